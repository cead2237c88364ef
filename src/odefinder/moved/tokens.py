from odefinder.moved import moved

moved(__name__, "odefinder.language.tokens")

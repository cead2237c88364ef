"""Numbers and programs <-> ids."""

import json
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odefinder.errors import DataError, ExpressionError, SettingsError
from odefinder.expressions.program import ADD, ARITY, CONST, COS, MUL, N_OPCODES, VAR, Program, make_program
from odefinder.language import number_words, tokens
from odefinder.language.number_words import (
    NumberScheme,
    decode_numbers,
    encode_numbers,
    number_ids,
    split_number,
)
from odefinder.language.tokens import Vocabulary

COARSE, PAPER = Vocabulary.preset("coarse"), Vocabulary.preset("paper")
VARIANTS = [
    COARSE,
    PAPER,
    Vocabulary(NumberScheme(digits=4)),
    Vocabulary(NumberScheme(digits=4, exact=())),
    Vocabulary(NumberScheme(order=("sign+exponent", "mantissa"))),
    Vocabulary(NumberScheme(digits=3, order=("sign+mantissa", "exponent"), scientific=False, exact=())),
    Vocabulary(NumberScheme(digits=1, order=("exponent+sign+mantissa",), exact=(0.0, 1.0, -1.0))),
]
EXAMPLE = make_program([COS, MUL, CONST, VAR], [0, 0, 2.4242, 0])  # the paper's cos(2.4242 x)


def leaves(dimension: int) -> st.SearchStrategy[list[tuple[int, float]]]:
    constant = st.one_of(
        st.sampled_from([0.0, 1.0, -1.0, 0.5, 0.996, 1.04, 1e-13, -1e15]),
        st.floats(-1e3, 1e3),
        st.floats(allow_nan=False, allow_infinity=False),
    )
    variable = st.integers(0, dimension - 1).map(lambda i: [(VAR, float(i))])
    return st.one_of(variable, constant.map(lambda c: [(CONST, c)]))


@st.composite
def programs(draw: st.DrawFn, dimension: int) -> Program:
    """Random systems of a dimension."""
    nodes = st.recursive(
        leaves(dimension),
        lambda child: st.integers(ADD, N_OPCODES - 1).flatmap(
            lambda op: st.lists(child, min_size=int(ARITY[op]), max_size=int(ARITY[op])).map(
                lambda children: [(op, 0.0), *(node for subtree in children for node in subtree)]
            )
        ),
        max_leaves=8,
    )
    system = [node for _ in range(dimension) for node in draw(nodes)]
    return make_program([op for op, _ in system], [value for _, value in system])


def input_words(x: float) -> tuple[str, str, str]:
    """The paper's words of a number, from the documented layout of the ids."""
    sign, mantissa, exponent = number_ids(x).tolist()
    return "+-"[sign - 1], f"{mantissa - 3:04d}", f"E{exponent - 10103}"


# ---------------------------------------------------------------- input numbers


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (2.4242, ("+", "2424", "E-3")),
        (-1.0, ("-", "1000", "E-3")),
        (0.0, ("+", "0000", "E0")),
        (-0.0, ("+", "0000", "E0")),
        (9999.5, ("+", "1000", "E1")),  # the carry
        (9999.4, ("+", "9999", "E0")),
        (-0.99995, ("-", "1000", "E-3")),
        (0.1, ("+", "1000", "E-4")),
        (1000.5, ("+", "1001", "E0")),  # halves away from zero
        (-1000.5, ("-", "1001", "E0")),
        (1e-97, ("+", "1000", "E-100")),
        (9.99951e-98, ("+", "1000", "E-100")),
        (9.99e-98, ("+", "0000", "E0")),
        (-1e-300, ("+", "0000", "E0")),
        (5e-324, ("+", "0000", "E0")),
        (9.999e103, ("+", "9999", "E100")),
        (9.9996e103, ("+", "9999", "E100")),  # the carry would leave the range
        (-1e300, ("-", "9999", "E100")),
    ],
)
def test_words_of_input_numbers(x: float, words: tuple[str, str, str]) -> None:
    assert input_words(x) == words


def test_input_vocabulary_is_the_papers_and_pad() -> None:
    assert number_words.INPUT_SIZE == 10203 + 1
    assert number_ids([-9.999e103]).max() == number_words.INPUT_SIZE - 1


@settings(deadline=None, max_examples=300)
@given(st.floats(1e-97, 9e100), st.integers(1, 4))
def test_rounding_is_to_the_nearest(x: float, digits: int) -> None:
    sign, mantissa, exponent = split_number(-x, digits, 0, -100, 100)
    assert sign == 1
    assert 10 ** (digits - 1) <= mantissa < 10**digits
    error = abs(Decimal(x) - Decimal(mantissa).scaleb(exponent))
    assert error <= Decimal("0.5000000000001").scaleb(exponent)


def test_rounding_agrees_with_python_formatting() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=5000) * 10.0 ** rng.integers(-90, 90, size=5000)
    np.testing.assert_allclose(decode_numbers(number_ids(x)), [float(f"{v:.3e}") for v in x], rtol=1e-15)


def test_powers_of_ten_and_their_neighbours() -> None:
    powers = np.array([float(f"1e{k}") for k in range(-97, 104)])
    for x in (powers, np.nextafter(powers, 0), np.nextafter(powers, np.inf)):
        np.testing.assert_allclose(decode_numbers(number_ids(x))[1:], x[1:], rtol=1e-14)


def test_every_rounded_number_keeps_its_ids() -> None:
    mantissas = np.arange(1000, 10000)
    for exponent in (-100, -30, -5, -3, 0, 17, 100):
        x = np.array([float(f"-{m}e{exponent}") for m in mantissas])
        ids = number_ids(x)
        np.testing.assert_array_equal(ids[:, 1], mantissas + 3)
        np.testing.assert_array_equal(number_ids(decode_numbers(ids)), ids)


def test_input_numbers_of_any_shape_and_missing_entries() -> None:
    x = np.array([[1.5, np.nan, -3e-7], [0.0, 2.0, 7.0]])
    with pytest.raises(DataError, match="finite"):
        number_ids(x)
    with pytest.raises(DataError, match="finite"):
        number_ids(np.inf, allow_missing=True)
    ids = number_ids(x.T, allow_missing=True)
    assert ids.shape == (3, 2, 3)
    assert ids.dtype == np.int16
    assert (ids[1, 0] == number_words.PAD).all()
    np.testing.assert_array_equal(decode_numbers(ids), x.T)
    compiled = np.empty((6, 3), dtype=np.int16)
    encode_numbers(x.ravel(), compiled)
    np.testing.assert_array_equal(compiled.reshape(2, 3, 3), ids.transpose(1, 0, 2))
    assert number_ids(np.empty((0, 4))).shape == (0, 4, 3)


@pytest.mark.parametrize("ids", [3, [1, 2], [0, 3, 10103], [3, 3, 10103], [1, 10103, 3], [1, 3, 10204]])
def test_malformed_input_ids(ids: object) -> None:
    with pytest.raises(ExpressionError, match="triples"):
        decode_numbers(ids)  # type: ignore[arg-type]


# ---------------------------------------------------------------- target words


def test_the_papers_example() -> None:
    assert PAPER.words(PAPER.encode(EXAMPLE)) == ["cos", "mul", "+", "2424", "E-3", "x0", "<eos>"]
    assert COARSE.words(COARSE.encode(EXAMPLE)) == ["cos", "mul", "+", "E0", "24", "x0", "<eos>"]
    merged = Vocabulary(NumberScheme(order=("sign+exponent", "mantissa")))
    assert merged.words(merged.encode(EXAMPLE)) == ["cos", "mul", "+E0", "24", "x0", "<eos>"]


def test_sizes() -> None:
    # 4 specials, 16 operators, 6 variables, then the numbers.
    assert len(PAPER) == 26 + 10203
    assert len(COARSE) == 26 + 2 + (2 + 25 + 90)
    assert len(set(PAPER.all_words)) == len(PAPER)
    assert len(set(COARSE.all_words)) == len(COARSE)
    for vocabulary in VARIANTS:
        assert len(vocabulary.token_opcode) == len(vocabulary.token_slot) == len(vocabulary)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (1.04, "1"),  # rounds to 1: one spelling a number
        (0.996, "1"),
        (0.99, "+ E-1 99"),
        (-1.0, "- E0 10"),
        (-0.0234, "- E-2 23"),
        (99.6, "+ E2 10"),
        (1e-12, "+ E-12 10"),
        (-9e-13, "0"),
        (5e13, "+ E12 99"),
        (-1e300, "- E12 99"),
    ],
)
def test_words_of_coarse_constants(x: float, words: str) -> None:
    program = make_program([CONST], [x])
    assert COARSE.words(COARSE.encode(program)) == [*words.split(), "<eos>"]


def test_zero_without_a_word_of_its_own() -> None:
    assert PAPER.words(PAPER.encode(make_program([CONST], [-1e-200]))) == ["+", "0000", "E0", "<eos>"]
    assert PAPER.decode(PAPER.encode(make_program([CONST], [0.0]))).values.tolist() == [0.0]


@pytest.mark.parametrize("vocabulary", VARIANTS)
@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_round_trip(vocabulary: Vocabulary, data: st.DataObject) -> None:
    program = data.draw(st.integers(1, 6).flatmap(programs))
    ids = vocabulary.encode(program)
    decoded = vocabulary.decode(ids)
    numbers = vocabulary.numbers
    rounded = [numbers.value(*numbers.split(x)) for x in program.constants.tolist()]
    assert decoded == program.with_constants(rounded)
    np.testing.assert_array_equal(vocabulary.encode(decoded), ids)
    assert vocabulary.decode([*ids, number_words.PAD, -100]) == decoded  # what follows the end does not count


def test_compiled_encoder_fills_a_callers_buffer() -> None:
    program = make_program([ADD, VAR, CONST, VAR], [0, 0, -2.5, 1])
    expected = COARSE.encode(program)
    assert COARSE.words(expected) == ["add", "x0", "-", "E0", "25", "|", "x1", "<eos>"]
    buffer = np.full(20, -7, dtype=np.int16)
    length = tokens.encode_program(program.ops, program.values, len(program), COARSE.layout, buffer)
    assert length == len(expected)
    np.testing.assert_array_equal(buffer[:length], expected)
    assert (buffer[length:] == -7).all()
    # Too small a buffer is never overrun.
    for size in range(len(expected)):
        part = buffer[:size]
        buffer[size:] = -7
        status = tokens.encode_program(program.ops, program.values, len(program), COARSE.layout, part)
        assert status == tokens.DOES_NOT_FIT
        assert (buffer[size:] == -7).all()


def test_what_has_no_word() -> None:
    few = Vocabulary(operators=("add", "mul"), variables=2)
    for program in (
        make_program([VAR], [2]),
        EXAMPLE,
        Program(np.array([CONST], dtype=np.int8), np.array([np.nan])),
    ):
        with pytest.raises(ExpressionError, match=r"2 variables.*add, mul"):
            few.encode(program)
    buffer = np.empty(9, dtype=np.int32)
    assert tokens.encode_program(EXAMPLE.ops, EXAMPLE.values, 4, few.layout, buffer) == tokens.NO_WORD


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("add x0", "without an end"),
        ("<eos>", r"token 0 \('<eos>'\): 1 argument"),
        ("add x0 <eos>", r"token 2 \('<eos>'\): 1 argument"),
        ("add x0 | x1 <eos>", r"token 2 \('\|'\): 1 argument"),
        ("x0 x1 <eos>", r"token 1 \('x1'\): the expression before it is complete"),
        ("x0 | <eos>", r"token 2 \('<eos>'\): 1 argument"),
        ("+ x0 <eos>", r"token 1 \('x0'\): expected the exponent"),
        ("E0 25 <eos>", r"token 0 \('E0'\): expected the sign"),
        ("+ E0 <eos>", r"token 2 \('<eos>'\): expected the mantissa"),
        ("x0 + E0 25 <eos>", r"token 1 \('\+'\): the expression before it is complete"),
        ("sin <pad> x0 <eos>", r"token 1 \('<pad>'\): not part of an expression"),
        ("<bos> x0 <eos>", r"token 0 \('<bos>'\): not part of an expression"),
    ],
)
def test_malformed_sequences(words: str, message: str) -> None:
    ids = [COARSE.all_words.index(word) for word in words.split()]
    with pytest.raises(ExpressionError, match=message):
        COARSE.decode(ids)


def test_ids_outside_the_vocabulary() -> None:
    with pytest.raises(ExpressionError, match="145 is not an id"):
        COARSE.decode([145, tokens.EOS])


# ---------------------------------------------------------------- settings


@pytest.mark.parametrize("vocabulary", VARIANTS)
def test_dictionary_and_fingerprint(vocabulary: Vocabulary) -> None:
    again = Vocabulary.from_dict(json.loads(json.dumps(vocabulary.to_dict())))
    assert again == vocabulary
    assert again.fingerprint == vocabulary.fingerprint
    assert len({other.fingerprint for other in VARIANTS}) == len(VARIANTS)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Vocabulary.preset("rough"),
        lambda: Vocabulary(operators=("add", "sinh")),
        lambda: Vocabulary(operators=("add", "add")),
        lambda: NumberScheme(digits=5),
        lambda: NumberScheme(order=("sign", "mantissa")),
        lambda: NumberScheme(exponent_min=1),
        lambda: NumberScheme(exponent_max=101),
        lambda: NumberScheme(exact=(0.0, 1.25)),
        lambda: NumberScheme(exact=(1.0, 1.0)),
    ],
)
def test_settings_that_make_no_sense(make: object) -> None:
    with pytest.raises(SettingsError):
        make()  # type: ignore[operator]

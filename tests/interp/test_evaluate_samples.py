"""Every operation has a meaning, of the type its typing rule promises."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from samples import Sample, samples

from glax import interp
from glax.ir import OPERATIONS, abstract_eval, evaluate, shaped_array

SAMPLES = samples()


def run(sample: Sample) -> list:
    with np.errstate(all="ignore"):
        result = evaluate[type(sample.op)](sample.op, *sample.operands)
    return list(result) if sample.op.multiple_results else [result]


def test_every_operation_has_a_rule_and_samples():
    assert interp.evaluate_jaxpr
    of_the_library = {n for n, c in OPERATIONS.items() if c.__module__.startswith("glax.")}
    assert of_the_library - {s.op.name for s in SAMPLES} == set()
    for name in of_the_library:
        assert callable(evaluate[OPERATIONS[name]])


def test_samples_are_few_and_named_apart():
    assert len(SAMPLES) < 900
    assert len({s.id for s in SAMPLES}) == len(SAMPLES)


@pytest.mark.parametrize("sample", SAMPLES, ids=[s.id for s in SAMPLES])
def test_result_has_the_promised_type(sample: Sample):
    promised = abstract_eval(sample.op, *[shaped_array(x.shape, x.dtype) for x in sample.operands])
    promised = promised if sample.op.multiple_results else [promised]
    before = [x.copy() for x in sample.operands]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = run(sample)
    assert len(results) == len(promised)
    for result, aval in zip(results, promised):
        assert isinstance(result, (np.ndarray, np.generic))
        assert (result.shape, result.dtype) == (aval.shape, aval.dtype)
    for x, old in zip(sample.operands, before):
        assert x.tobytes() == old.tobytes()


@pytest.mark.parametrize("sample", SAMPLES, ids=[s.id for s in SAMPLES])
def test_numpy_scalars_are_operands_too(sample: Sample):
    """A rule may be given np.generic where an operand has shape ()."""
    scalars = sample._replace(operands=tuple(x[()] for x in sample.operands))
    for result, again in zip(run(sample), run(scalars)):
        assert np.asarray(result).tobytes() == np.asarray(again).tobytes()
        assert (result.shape, result.dtype) == (again.shape, again.dtype)

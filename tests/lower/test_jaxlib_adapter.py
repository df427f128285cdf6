"""The adapter of jaxlib: memory, compiling, running, and keeping away from jax."""

import os
import subprocess
import sys
import textwrap

import ml_dtypes
import numpy as np
import pytest

from glax.ir.types import shaped_array
from glax.lower import jaxlib_adapter as xla

F4 = shaped_array((4,), np.dtype(np.float32))
SIN = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
ARGUMENT = np.arange(4, dtype=np.float32)
DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128", "bfloat16"),
    *("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz"),
    *("int2", "uint2", "int4", "uint4", "float4_e2m1fn"),
]


def dtype_named(name):
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def run(text, avals, *arrays, options=xla.DEFAULT_OPTIONS):
    executable = xla.compile(text, options)
    buffers = [xla.put(array, options.device) for array in arrays]
    results = xla.runner(executable, xla.result_handlers(avals, options.device))(buffers)
    return [xla.host(buffer, aval.shape, aval.dtype) for buffer, aval in zip(results, avals, strict=True)]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0,), (0, 3)])
def test_values_survive_the_way_to_the_device_and_back(name, shape):
    dtype = dtype_named(name)
    values = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape).astype(dtype)
    for may_alias in (False, True):
        back = xla.host(xla.put(values, may_alias=may_alias), shape, dtype)
        assert back.dtype == dtype and back.shape == shape and not back.flags.writeable
        assert back.tobytes() == values.tobytes()


@pytest.mark.parametrize("size", [3, 1024, 4096, 1 << 18])
def test_later_writes_to_what_was_put_are_invisible(size):
    raw = np.zeros(4 * size + 4096, np.uint8)
    start = -raw.ctypes.data % 4096
    for values in (raw[start : start + 4 * size].view(np.float32), np.zeros(size, np.float32)):
        buffer = xla.put(values)
        values[:] = 7
        assert not xla.host(buffer, values.shape, values.dtype).any()


def test_owned_aligned_memory_is_used_as_it_is():
    raw = np.zeros(4096 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    values = raw[start : start + 4096].view(np.float32)
    assert xla.address(xla.put(values, may_alias=True)) == values.ctypes.data
    assert xla.address(xla.put(values)) != values.ctypes.data


def test_strided_input_arrives_in_order():
    values = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert xla.host(xla.put(values.T), (3, 2), values.dtype).tolist() == values.T.tolist()
    assert xla.host(xla.put(values[:, ::-2]), (2, 2), values.dtype).tolist() == values[:, ::-2].tolist()


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int4"])
def test_a_deleted_buffer_is_a_clear_error_and_its_views_stay_good(name):
    dtype = dtype_named(name)
    buffer = xla.put(np.ones(5, dtype))
    view = xla.host(buffer, (5,), dtype)
    assert xla.is_ready(buffer) and not xla.is_deleted(buffer)
    xla.delete(buffer)
    xla.delete(buffer)
    assert xla.is_deleted(buffer) and (view == np.ones(5, dtype)).all()
    with pytest.raises(xla.DeletedArrayError, match=rf"{name}\[5\]"):
        xla.host(buffer, (5,), dtype)
    for ask in (xla.is_ready, xla.block_until_ready, xla.size_on_device, xla.address, xla.dlpack_capsule):
        with pytest.raises(xla.DeletedArrayError):
            ask(buffer)


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_memory_that_was_handed_out_outlives_its_buffer(name):
    dtype, views = dtype_named(name), []
    for value in range(20):
        buffer = xla.put(np.full(1000, value % 7, dtype))
        views.append((xla.host(buffer, (1000,), dtype), xla.dlpack_capsule(buffer)))
        if value % 2:
            xla.delete(buffer)
    kept = [xla.put(np.full(1000, 9, dtype)) for _ in range(20)]
    assert all((view == value % 7).all() for value, (view, _) in enumerate(views)) and len(kept) == 20


@pytest.mark.parametrize("name, mlir", [("float32", "f32"), ("bfloat16", "bf16")])
def test_donating_never_changes_what_numpy_sees(name, mlir):
    dtype, aval = dtype_named(name), shaped_array((1024,), dtype_named(name))
    text = SIN.replace("tensor<4xf32>)", "tensor<4xf32> {jax.buffer_donor = true})").replace("4xf32", f"1024x{mlir}")
    executable, handlers = xla.compile(text), xla.result_handlers([aval])
    raw = np.ones(4096 + 64, np.uint8)
    start = -raw.ctypes.data % 64
    owned = raw[start : start + 1024 * dtype.itemsize].view(dtype)
    before = owned.tobytes()
    aliased, copied = xla.put(owned, may_alias=True), xla.put(owned)
    view = xla.host(copied, (1024,), dtype)
    for buffer in (aliased, copied):
        xla.runner(executable, handlers)([buffer])
    assert owned.tobytes() == view.tobytes() == before


def test_running_a_deleted_buffer_says_which():
    executable, buffer = xla.compile(SIN), xla.put(ARGUMENT)
    xla.delete(buffer)
    with pytest.raises(xla.DeletedArrayError, match="argument 0"):
        xla.runner(executable, xla.result_handlers([F4]))([buffer])


@pytest.mark.parametrize("options", [xla.DEFAULT_OPTIONS, xla.OPERATION_OPTIONS, xla.FAST_OPTIONS])
def test_a_program_runs(options):
    [result] = run(SIN, [F4], ARGUMENT, options=options)
    np.testing.assert_allclose(result, np.sin(ARGUMENT), rtol=1e-6)


def test_wrong_arguments_are_errors():
    executable, handlers = xla.compile(SIN), xla.result_handlers([F4])
    with pytest.raises(xla.XlaError, match="expected 1"):
        xla.runner(executable, handlers)([xla.put(ARGUMENT)] * 2)
    with pytest.raises(xla.XlaError, match="size"):
        xla.runner(executable, handlers)([xla.put(ARGUMENT.astype(np.float64))])


def test_programs_without_arguments_or_results():
    nothing = xla.compile("func.func @main(%a: tensor<4xf32>) { return }")
    assert list(xla.runner(nothing, [])([xla.put(ARGUMENT)])) == []
    text = "func.func @main() -> tensor<i32> { %0 = stablehlo.constant dense<7> : tensor<i32> return %0 : tensor<i32> }"
    assert run(text, [shaped_array((), np.dtype(np.int32))])[0] == 7


def test_donated_memory_is_reused():
    text = SIN.replace("tensor<4xf32>)", "tensor<4xf32> {jax.buffer_donor = true})")
    buffer = xla.put(ARGUMENT)
    [result] = xla.runner(xla.compile(text), xla.result_handlers([F4]))([buffer])
    assert xla.is_deleted(buffer)
    np.testing.assert_allclose(xla.host(result, (4,), F4.dtype), np.sin(ARGUMENT), rtol=1e-6)


@pytest.mark.parametrize(
    "refuse", [xla.compile, lambda text: xla.compile(text, host_callbacks=[print]), xla.stablehlo_to_hlo_text])
def test_a_bad_module_is_an_error_that_shows_the_line(refuse):
    with pytest.raises(xla.XlaError, match=r"in line 2 of the module:\n.*stablehlo.sine %b") as caught:
        refuse(SIN.replace("sine %a", "sine %b"))
    assert str(caught.value).splitlines()[-1].strip() == "^"


def test_errors_without_a_line():
    with pytest.raises(xla.XlaError, match="main"):
        xla.compile(SIN.replace("@main", "@other"))
    with pytest.raises(xla.XlaError, match="xla_no_such_flag"):
        xla.compile(SIN, xla.CompileOptions(flags=(("xla_no_such_flag", True),)))
    with pytest.raises(ValueError, match="device"):
        xla.compile(SIN, xla.CompileOptions(device=99))
    with pytest.raises(ValueError, match="device"):
        xla.put(ARGUMENT, 99)


def test_flags_of_the_user_go_before_the_tier():
    options = xla.CompileOptions(xla.CompileTier.FAST, (("xla_backend_optimization_level", 3),))
    np.testing.assert_allclose(run(SIN, [F4], ARGUMENT, options=options)[0], np.sin(ARGUMENT), rtol=1e-6)
    assert options.key() != xla.FAST_OPTIONS.key()


def test_options_that_differ_have_keys_that_differ():
    tiers = [xla.CompileOptions(tier) for tier in xla.CompileTier]
    assert len({options.key() for options in tiers}) == len(tiers) == 3


CALL = (
    "stablehlo.custom_call @xla_ffi_python_cpu_callback({}) {{api_version = 4 : i32, has_side_effect = true, "
    "backend_config = {{index = {} : ui64}}}} : (tensor<4xf32>) -> {}"
)


def test_host_callbacks():
    first, second = CALL.format("%a", 0, "tensor<4xf32>"), CALL.format("%0", 1, "()")
    text = f"func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{ %0 = {first} {second} return %0 : tensor<4xf32> }}"
    seen = []

    def note(x):
        seen.append(x.copy())
        return ()

    executable = xla.compile(text, host_callbacks=[lambda x: (x * 2,), note])
    [result] = xla.runner(executable, xla.result_handlers([F4]))([xla.put(ARGUMENT)])
    assert xla.host(result, (4,), F4.dtype).tolist() == seen[0].tolist() == [0, 2, 4, 6]


def test_the_error_of_a_callback_reaches_the_caller_of_a_program_without_results():
    def fail(x):
        raise ValueError("too many cooks")

    text = f"func.func @main(%a: tensor<4xf32>) {{ {CALL.format('%a', 0, '()')} return }}"
    executable = xla.compile(text, host_callbacks=[fail])
    with pytest.raises(xla.XlaError, match="too many cooks"):
        xla.runner(executable, [])([xla.put(ARGUMENT)])


def test_executables_can_be_kept():
    executable = xla.deserialize(xla.serialize(xla.compile(SIN)))
    [result] = xla.runner(executable, xla.result_handlers([F4]))([xla.put(ARGUMENT)])
    np.testing.assert_allclose(xla.host(result, (4,), F4.dtype), np.sin(ARGUMENT), rtol=1e-6)
    with pytest.raises(xla.XlaError, match="cannot load"):
        xla.deserialize(b"nonsense")


def test_what_an_executable_tells():
    executable = xla.compile(SIN)
    assert xla.memory_statistics(executable) == {
        "argument": 16,
        "output": 16,
        "temp": 0,
        "alias": 0,
        "generated_code": 0,
        "peak": 32,
    }
    assert xla.cost_analysis(executable)["transcendentals"] == 4
    assert "sine" in xla.optimized_text(executable)
    assert "sine(Arg_0.1)" in xla.stablehlo_to_hlo_text(SIN)


def test_live_buffers():
    buffer = xla.put(ARGUMENT)
    assert any(live is buffer for live in xla.live_buffers())
    xla.delete(buffer)
    assert not any(live is buffer for live in xla.live_buffers())


def test_lapack_is_there_for_who_calls_it():
    matrix, layout = "tensor<2x2xf32>", "dense<[0, 1]> : tensor<2xindex>"
    text = f"""func.func @main(%a: {matrix}) -> ({matrix}, tensor<i32>) {{
      %r:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {{api_version = 4 : i32, backend_config = {{uplo = 76 : ui8}},
        operand_layouts = [{layout}], result_layouts = [{layout}, dense<> : tensor<0xindex>]}}
        : ({matrix}) -> ({matrix}, tensor<i32>)
      return %r#0, %r#1 : {matrix}, tensor<i32> }}"""
    avals = [shaped_array((2, 2), np.dtype(np.float32)), shaped_array((), np.dtype(np.int32))]
    positive = np.array([[4, 2], [2, 5]], np.float32)
    factor, info = run(text, avals, positive)
    assert info == 0
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(positive), rtol=1e-6)
    assert b"lapack_" in xla.serialize(xla.compile(text)), "loading from disk must notice what to register"


def in_new_process(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def test_several_devices():
    in_new_process(
        """
        import numpy as np
        from glax.ir.types import shaped_array
        from glax.lower import jaxlib_adapter as xla, array
        assert not xla._PLACES
        first, second, third = xla.devices()
        text = "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }"
        aval = shaped_array((4,), np.dtype("float32"))
        executable = xla.compile(text, xla.CompileOptions(device=1))
        [result] = xla.runner(executable, xla.result_handlers([aval], 1))([xla.put(np.ones(4, "float32"), second)])
        assert xla.device_of(result) == second
        made = array.from_buffer(result, aval)
        assert made.devices() == {second} and made.value().tolist() == [1, 1, 1, 1]
        narrow = xla.put(np.ones(4, xla_dtype := __import__("ml_dtypes").int4), third)
        assert xla.host(narrow, (4,), np.dtype(xla_dtype)).tolist() == [1, 1, 1, 1]
        """,
        GLAX_NUM_CPU_DEVICES="3",
    )


def test_the_count_of_devices_is_checked():
    code = "from glax.lower import jaxlib_adapter as xla\ntry: xla.devices()\nexcept ValueError as error: print(error)"
    assert "GLAX_NUM_CPU_DEVICES must be a positive integer" in in_new_process(code, GLAX_NUM_CPU_DEVICES="many").stdout


def test_jax_is_never_imported(tmp_path):
    for name in ("jax", "jax_plugins"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('jax was imported')")
    (tmp_path / "jax" / "core.py").write_text("")
    done = in_new_process(
        f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import gc, pickle, copy
        import numpy as np
        import ml_dtypes
        from glax.ir.types import shaped_array
        from glax.lower import array, disk_cache, executable_cache, jaxlib_adapter as xla
        assert not xla._PLACES
        for dtype in ("float32", "bfloat16", "int4"):
            made = array.from_numpy(np.ones(4, getattr(ml_dtypes, dtype, dtype)))
            made.buffer()
            aval = made.aval
            kind = "tensor<4x" + dict(float32="f32", bfloat16="bf16", int4="i4")[dtype] + ">"
            text = f"func.func @main(%a: {{kind}}) -> {{kind}} {{{{ return %a : {{kind}} }}}}"
            executable = xla.compile(text)
            [result] = xla.runner(executable, xla.result_handlers([aval]))([made.buffer()])
            for one in (made, array.from_buffer(result, aval)):
                if dtype != "int4":
                    one.unsafe_buffer_pointer(), one.__dlpack__()
                one.devices(), one.is_ready(), one.block_until_ready(), one.on_device_size_in_bytes()
                repr(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one)), xla.live_buffers()
                one.delete()
        xla.memory_statistics(executable), xla.cost_analysis(executable), xla.optimized_text(executable)
        xla.stablehlo_to_hlo_text(text), xla.deserialize(xla.serialize(executable))
        gc.collect()
        assert not [name for name in sys.modules if name.split(".")[0] in ("jax", "jax_plugins")]
        print("done")
        """
    )
    assert done.stdout == "done\n"
    assert done.stderr == ""


@pytest.mark.parametrize("may_alias", [False, True])
@pytest.mark.parametrize("size", [1, 1 << 12, 1 << 16, 1 << 20])
@pytest.mark.parametrize("offset", [0, 4, 16])
def test_values_are_on_the_device_on_return(size, offset, may_alias):
    """XLA copies large values that are not aligned on a thread of its own, and puts off programs that read them."""
    memory = np.empty(4 * size + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    values = memory[start:start + 4 * size].view(np.float32)
    values[:] = 1
    for _ in range(20):
        assert xla.put(values, may_alias=may_alias).is_ready()

"""Settings, questions about the machine, storages and sizes under PyTorch's names."""

import subprocess
import sys

import numpy as np
import pytest

import lathe as lt


def test_threads():
    try:
        lt.set_num_threads(1)
        assert lt.get_num_threads() == 1 and lt.get_num_interop_threads() == 1
        with pytest.raises(lt.ValueError, match="^set_num_threads: "):
            lt.set_num_threads(0)
        lt.set_num_interop_threads(4)
        assert lt.get_num_interop_threads() == 1
    finally:
        lt.set_flag("threads", 0)
    assert lt.get_num_threads() >= 1


def test_what_is_always_so():
    lt.use_deterministic_algorithms(False, warn_only=True)
    assert lt.are_deterministic_algorithms_enabled()
    assert not lt.is_deterministic_algorithms_warn_only_enabled()
    lt.set_deterministic_debug_mode("warn")
    assert lt.get_deterministic_debug_mode() == 2
    lt.set_float32_matmul_precision("medium")
    assert lt.get_float32_matmul_precision() == "highest"
    for bad in (lt.set_deterministic_debug_mode, lt.set_float32_matmul_precision):
        with pytest.raises(lt.ValueError, match="no such setting"):
            bad("lowest")
    assert lt.set_flush_denormal(True) is False
    assert (lt.tensor(1e-310, dtype=lt.float64) / 2).item() == 5e-311
    assert lt.has_lapack and lt.has_spectral and not lt.has_mkl and not lt.has_openmp


def test_the_default_device():
    assert lt.get_default_device() == lt.device("cpu")
    for fine in (None, "cpu", lt.device("cpu")):
        lt.set_default_device(fine)
    for bad in ("sim", "cuda", "nowhere"):
        with pytest.raises(lt.DeviceError):
            lt.set_default_device(bad)


def test_anomalies_and_warnings():
    assert not lt.is_anomaly_enabled()
    lt.set_anomaly_enabled(True)
    try:
        assert lt.is_anomaly_enabled() and lt.is_anomaly_check_nan_enabled()
        x = lt.tensor(0.0, requires_grad=True)
        with pytest.raises(lt.AutogradError):
            (x.sqrt() * 0).backward()
    finally:
        lt.set_anomaly_enabled(False)
    assert not lt.is_anomaly_enabled() and not lt.autograd.is_anomaly_enabled()
    lt.set_warn_always(True)
    assert lt.is_warn_always_enabled()
    lt.set_warn_always(False)


@pytest.mark.parametrize("kind", ["cuda", "mps", "xpu"])
def test_devices_that_are_not_there(kind):
    module = getattr(lt, kind)
    assert not module.is_available() and module.device_count() == 0
    assert module.memory_allocated() == 0 and module.get_rng_state_all() == []
    module.manual_seed_all(3)
    module.empty_cache()
    for name in ("current_device", "get_device_name", "Stream", "device"):
        with pytest.raises(lt.DeviceError, match=f"^{kind}.{name}: ") as caught:
            getattr(module, name)(0)
        assert f"{kind}.is_available()" in caught.value.next
    assert all(getattr(module, n).__doc__ for n in dir(module) if n[0] != "_")


def test_moving_to_a_device_that_is_not_there():
    for arguments in ((), (1,), ("cuda:0",)):
        with pytest.raises(lt.DeviceError, match="no such device"):
            lt.ones(2).cuda(*arguments)
    for kind in ("maia", "mtia", "nested", "sparse_csr", "cuda"):
        assert getattr(lt.ones(1), f"is_{kind}") is False
    assert lt.ones(1).is_distributed() is False and lt.is_distributed(lt.ones(1)) is False


def test_modules_are_importable_and_one():
    code = (
        "import lathe.cuda, lathe.backends.cudnn as c, lathe.backends.cuda, lathe.backends.mps\n"
        "import lathe.compat.torch as torch\n"
        "import lathe.compat.torch.backends.cudnn as cudnn\n"
        "from lathe.compat.torch.cuda.amp import GradScaler, autocast\n"
        "cudnn.benchmark = True\n"
        "print(torch.cuda is lathe.cuda, torch.backends is lathe.backends, c.benchmark)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["True"] * 3, done.stderr


def test_backends(flag):
    b = lt.backends
    assert not b.cudnn.is_available() and b.cudnn.version() is None and b.cudnn.deterministic
    assert not b.mps.is_available() and not b.cuda.is_built()
    assert not b.mkl.is_available() and not b.openmp.is_available()
    usable = [
        line for line in lt.table("mm").splitlines() if line.endswith("onednn.matmul (pinned)")
    ]
    assert b.mkldnn.is_available() == bool(usable)
    b.cuda.matmul.allow_tf32 = True
    with b.cudnn.flags(enabled=True, benchmark=True):
        assert b.cudnn.benchmark and b.cudnn.enabled
    assert not b.cudnn.benchmark and not b.cudnn.enabled
    flag("disabled", "onednn")
    assert not b.mkldnn.is_available()
    with pytest.raises(AttributeError):
        _ = b.nothing_like_it


def test_kernels_of_attention_are_one_setting():
    from lathe.nn.attention import SDPBackend, sdpa_kernel

    switches = lt.backends.cuda
    assert switches.flash_sdp_enabled() and switches.math_sdp_enabled()
    with sdpa_kernel(SDPBackend.MATH):
        assert not switches.flash_sdp_enabled() and switches.math_sdp_enabled()
    switches.enable_flash_sdp(False)
    assert not switches.flash_sdp_enabled()
    switches.enable_flash_sdp(True)
    assert switches.flash_sdp_enabled()


def test_storages():
    x = lt.arange(12, dtype=lt.float32).reshape(3, 4)
    whole, bytes_ = x[1:].storage(), x.t().untyped_storage()
    assert whole.size() == len(whole) == 12 and whole.nbytes() == 48 == bytes_.size()
    assert whole.data_ptr() == bytes_.data_ptr() == x.data_ptr() != x[1:].data_ptr()
    assert whole.dtype == lt.float32 and whole[2] == 2.0 and whole.tolist()[-1] == 11
    assert bytes_ == whole.untyped() and hash(bytes_) == hash(whole.untyped())
    assert bytes_ != x.clone().untyped_storage() and "48" in repr(bytes_)
    assert lt.is_storage(whole) and not lt.is_storage(x)
    assert isinstance(bytes_, lt.UntypedStorage) and whole.element_size() == 4


@pytest.mark.parametrize("shared", [True, False])
def test_from_file(tmp_path, shared):
    path = tmp_path / "numbers"
    np.arange(5, dtype="f4").tofile(path)
    x = lt.from_file(str(path), shared, 4)
    assert x.tolist() == [0, 1, 2, 3] and x.dtype == lt.float32
    x[0] = 7
    assert np.fromfile(path, "f4")[0] == (7 if shared else 0)
    assert lt.from_file(path, size=0).shape == (0,)
    with pytest.raises(lt.FileError, match="^from_file: "):
        lt.from_file(tmp_path / "none", size=1)
    if shared:
        assert lt.from_file(path, True, 8, dtype=lt.int16).shape == (8,)
        assert lt.from_file(path, True, 9).tolist()[5:] == [0] * 4  # the file grows
    else:
        with pytest.raises(lt.ValueError, match="too short"):
            lt.from_file(path, size=6)


def test_small_functions():
    x = lt.ones(2, 3, requires_grad=True)
    y = x * 2
    assert not lt.detach(y).requires_grad and y.requires_grad
    assert not y.retains_grad and not x.retains_grad
    y.retain_grad()
    assert y.retains_grad
    assert lt.detach_(y) is y and not y.requires_grad
    assert lt.as_strided_(y, (2,), (1,)) is y and y.shape == (2,)
    assert lt.zero_(y) is y and y.tolist() == [0, 0]
    assert lt.is_signed(y) and not lt.is_signed(lt.ones(1, dtype=lt.uint8))
    assert lt.from_dlpack(lt.to_dlpack(y)).data_ptr() == y.data_ptr()
    assert lt.newaxis is None and lt.OutOfMemoryError is lt.MemoryError
    assert y.shape == lt.Size([2]) and isinstance(y.shape, lt.Size)
    assert lt.range(1, 4).tolist() == [1, 2, 3, 4] and lt.range(1, 4).dtype == lt.float32
    assert lt.range(5, 0, -2, dtype=lt.int64).tolist() == [5, 3, 1]
    with pytest.raises(lt.ValueError, match="^range: "):
        lt.range(3, 1)


def test_cond():
    def choose(x):
        return lt.cond(x.sum() > 0, lambda v: v * 2, lambda v: -v, (x,))

    for x in (lt.ones(3), -lt.ones(3)):
        assert choose(x).tolist() == lt.script(choose)(x).tolist()
    assert choose(lt.ones(1)).item() == 2 and choose(-lt.ones(1)).item() == 1


def test_sizes():
    assert lt.sym_max(3, 2.0) == 3.0 and type(lt.sym_max(3, 2.0)) is float
    assert lt.sym_min(3, 2) == 2 and lt.sym_not(False) and lt.sym_sum([1, 2, 3]) == 6
    assert lt.sym_int(2.7) == 2 and lt.sym_float(2) == 2.0 and lt.sym_sqrt(9) == 3.0
    assert lt.sym_ite(True, 1, 2) == 1
    with pytest.raises(lt.TypeError, match="^sym_ite: "):
        lt.sym_ite(True, 1, 2.0)

    @lt.trace
    def halves(x):
        n = lt.sym_max(lt.sym_int(x.shape[0]) // 2, 1)
        return x[:n] * lt.sym_sum([n, 1])

    for n in (1, 4, 7, 1):
        k = max(n // 2, 1)
        assert halves(lt.ones(n)).tolist() == [k + 1] * k

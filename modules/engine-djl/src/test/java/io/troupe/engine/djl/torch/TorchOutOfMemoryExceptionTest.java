package io.troupe.engine.djl.torch;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.engine.EngineException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TorchOutOfMemoryExceptionTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 31.75 GiB total capacity)",
        "CUDA error: out of memory",
        "[enforce fail at alloc_cpu.cpp:116] DefaultCPUAllocator: can't allocate memory: you tried"
            + " to allocate 4000 bytes. Error code 12 (Cannot allocate memory)",
        "DefaultCPUAllocator: not enough memory: you tried to allocate 4000 bytes.",
        "std::bad_alloc",
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
        "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
        "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED",
        "cusolver error: CUSOLVER_STATUS_ALLOC_FAILED, when calling `cusolverDnCreate(handle)`",
        "cusolver error: CUSOLVER_STATUS_NOT_INITIALIZED, when calling `cusolverDnCreate(handle)`",
        "cuFFT error: CUFFT_ALLOC_FAILED",
        "CUDA error: CUSPARSE_STATUS_INSUFFICIENT_RESOURCES when calling `cusparseCreate(handle)`"
      })
  void orItself_aWordingOfNoMemory_isOutOfMemory(String wording) {
    String text =
        "The following operation failed in the TorchScript interpreter.\nTraceback:\nRuntimeError: "
            + wording;
    RuntimeException failure = TorchOutOfMemoryException.orItself(new EngineException(text));
    assertThat(failure)
        .isInstanceOf(TorchOutOfMemoryException.class)
        .hasMessage("RuntimeError: " + wording);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CUDA error: device-side assert triggered",
        "CUDA error: an illegal memory access was encountered",
        "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm(...)`",
        "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasSgemm(...)`",
        "mat1 and mat2 shapes cannot be multiplied"
      })
  void orItself_anotherFailure_isItself(String wording) {
    EngineException failure = new EngineException(wording);
    assertThat(TorchOutOfMemoryException.orItself(failure)).isSameAs(failure);
  }
}

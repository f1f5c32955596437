package io.troupe.engine.djl.torch;

import ai.djl.engine.EngineException;
import java.util.List;
import java.util.Locale;

/**
 * PyTorch could not allocate memory. The operation was not done; a caller may release memory and
 * try a smaller operation.
 */
public final class TorchOutOfMemoryException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /**
   * The messages of PyTorch's allocators and of the libraries that PyTorch calls, in lower case.
   * cuBLAS, cuDNN, cuSOLVER and the like allocate by themselves, and report a status when PyTorch's
   * allocator has left them nothing; when not even their handle can be made, the status is another
   * one.
   */
  private static final List<String> WORDINGS =
      List.of(
          "out of memory",
          "can't allocate memory",
          "cannot allocate memory",
          "not enough memory",
          "bad_alloc",
          "cudaerrormemoryallocation",
          "_alloc_failed",
          "_allocation_failed",
          "_insufficient_resources",
          "cublas_status_not_initialized when calling `cublascreate",
          "cudnn_status_not_initialized",
          "cusolver_status_not_initialized, when calling `cusolverdncreate");

  private TorchOutOfMemoryException(Throwable cause) {
    super(outOfMemoryLine(cause), cause);
  }

  /** Returns the exception for a failed native call. */
  static RuntimeException orItself(EngineException failure) {
    return isOutOfMemoryText(text(failure)) ? new TorchOutOfMemoryException(failure) : failure;
  }

  private static boolean isOutOfMemoryText(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    return WORDINGS.stream().anyMatch(lower::contains);
  }

  private static String text(Throwable failure) {
    return String.valueOf(failure.getMessage());
  }

  /** Without the interpreter's trace around it. */
  private static String outOfMemoryLine(Throwable cause) {
    return text(cause)
        .lines()
        .filter(TorchOutOfMemoryException::isOutOfMemoryText)
        .findFirst()
        .orElseThrow();
  }
}

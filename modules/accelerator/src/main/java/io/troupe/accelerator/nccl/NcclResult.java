package io.troupe.accelerator.nccl;

import java.util.Arrays;

/** The results of NCCL's functions, as {@code ncclResult_t} numbers them. */
enum NcclResult {
  SUCCESS(0, "success"),
  CUDA_ERROR(1, "unhandled CUDA error"),
  SYSTEM_ERROR(2, "unhandled system error"),
  INTERNAL_ERROR(3, "internal error"),
  INVALID_ARGUMENT(4, "invalid argument"),
  INVALID_USAGE(5, "invalid usage"),
  REMOTE_ERROR(6, "remote process exited or network error"),
  IN_PROGRESS(7, "in progress"),
  TIMEOUT(8, "timeout"),
  UNKNOWN(-1, "unknown error");

  private final int code;
  private final String words;

  NcclResult(int code, String words) {
    this.code = code;
    this.words = words;
  }

  static NcclResult of(int number) {
    return Arrays.stream(values())
        .filter(result -> result.code == number)
        .findFirst()
        .orElse(UNKNOWN);
  }

  /** Whether the function did its work, or does it yet. */
  boolean fine() {
    return this == SUCCESS || this == IN_PROGRESS;
  }

  @Override
  public String toString() {
    return "%s (%d)".formatted(words, code);
  }
}

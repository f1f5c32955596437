package io.troupe.runtime.evaluation;

import io.troupe.core.completion.Completion;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** Divides what a chunk of an evaluation carries into messages that fit a frame. */
public final class MessageParts {
  private static final long MOST_BYTES = 1 << 20;
  private static final int BYTES_PER_ITEM = 256;
  private static final int BYTES_PER_TOKEN = 16;

  private MessageParts() {}

  /** Completions in order, in parts of a mebibyte or of one completion. */
  public static List<List<Completion>> of(List<Completion> completions) {
    return parts(completions, completion -> (long) completion.length() * BYTES_PER_TOKEN);
  }

  /** Requests in order, in parts of a mebibyte or of one request. */
  public static List<List<EvaluationRequest>> ofRequests(List<EvaluationRequest> requests) {
    return parts(requests, request -> (long) request.prompt().length * Integer.BYTES);
  }

  private static <T> List<List<T>> parts(List<T> items, ToLongFunction<T> bytes) {
    List<List<T>> parts = new ArrayList<>();
    List<T> part = new ArrayList<>();
    long size = 0;
    for (T item : items) {
      long own = BYTES_PER_ITEM + bytes.applyAsLong(item);
      if (!part.isEmpty() && size + own > MOST_BYTES) {
        parts.add(part);
        part = new ArrayList<>();
        size = 0;
      }
      part.add(item);
      size += own;
    }
    parts.add(part);
    return parts;
  }
}

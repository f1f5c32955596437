package io.troupe.engine.http.client;

import io.troupe.engine.http.protocol.CallFailure;
import io.troupe.engine.http.protocol.RawCompletion;
import java.io.Serial;
import java.util.List;

/** A call of a server failed. */
public final class InferenceCallException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1L;

  private final transient CallFailure fault;
  private final transient List<RawCompletion> drawn;

  /**
   * Of a call that had brought nothing.
   *
   * @param where the server
   */
  public InferenceCallException(InferenceEndpoint where, CallFailure fault) {
    this(where, fault, List.of());
  }

  /**
   * Of a draw.
   *
   * @param drawn what had come of each completion; one that had not ended was cut
   */
  InferenceCallException(InferenceEndpoint where, CallFailure fault, List<RawCompletion> drawn) {
    super("%s: %s".formatted(where, fault));
    this.fault = fault;
    this.drawn = drawn.stream().map(RawCompletion::cut).toList();
  }

  public CallFailure fault() {
    return fault;
  }

  /** What had come of each completion before it failed. */
  public List<RawCompletion> drawn() {
    return drawn;
  }

  /** Tokens that had come before it failed, of all completions. */
  public int tokens() {
    return drawn.stream().mapToInt(one -> one.tokens().length).sum();
  }
}

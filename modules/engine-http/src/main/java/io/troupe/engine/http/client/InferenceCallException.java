package io.troupe.engine.http.client;

import io.troupe.engine.http.protocol.CallFailure;
import io.troupe.engine.http.protocol.RawCompletion;
import java.io.Serial;
import java.util.List;

/** A call to an inference server failed. */
public final class InferenceCallException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1L;

  private final transient CallFailure fault;
  private final transient List<RawCompletion> drawn;

  /**
   * A failure of a call that had returned nothing.
   *
   * @param where the server
   */
  public InferenceCallException(InferenceEndpoint where, CallFailure fault) {
    this(where, fault, List.of());
  }

  /**
   * A failure of a request for completions.
   *
   * @param drawn parts of each completion that had arrived; a completion without an end was cut
   */
  InferenceCallException(InferenceEndpoint where, CallFailure fault, List<RawCompletion> drawn) {
    super("%s: %s".formatted(where, fault));
    this.fault = fault;
    this.drawn = drawn.stream().map(RawCompletion::cut).toList();
  }

  public CallFailure fault() {
    return fault;
  }

  /** Returns the parts of each completion that had arrived before the failure. */
  public List<RawCompletion> drawn() {
    return drawn;
  }

  /** Tokens of all completions that had arrived before the failure. */
  public int tokens() {
    return drawn.stream().mapToInt(one -> one.tokens().length).sum();
  }
}

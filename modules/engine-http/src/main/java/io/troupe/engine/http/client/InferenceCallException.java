package io.troupe.engine.http.client;

import io.troupe.engine.http.protocol.CallFailure;
import io.troupe.engine.http.protocol.RawCompletion;
import java.io.Serial;
import java.util.List;

/** A call to an inference server failed. */
public final class InferenceCallException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1L;

  private final transient CallFailure fault;
  private final transient List<RawCompletion> sampled;

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
   * @param sampled parts of each completion that had arrived; a completion without an end was cut
   */
  InferenceCallException(InferenceEndpoint where, CallFailure fault, List<RawCompletion> sampled) {
    super("%s: %s".formatted(where, fault));
    this.fault = fault;
    this.sampled = sampled.stream().map(RawCompletion::cut).toList();
  }

  public CallFailure fault() {
    return fault;
  }

  /** Returns the parts of each completion that had arrived before the failure. */
  public List<RawCompletion> sampled() {
    return sampled;
  }

  /** Tokens of all completions that had arrived before the failure. */
  public int tokens() {
    return sampled.stream().mapToInt(one -> one.tokens().length).sum();
  }
}

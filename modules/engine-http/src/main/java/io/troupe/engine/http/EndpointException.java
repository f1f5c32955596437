package io.troupe.engine.http;

import io.troupe.engine.http.protocol.Drawn;
import io.troupe.engine.http.protocol.Fault;
import java.io.Serial;
import java.util.List;

/** A call of a server failed. */
public final class EndpointException extends RuntimeException {
  @Serial private static final long serialVersionUID = 1L;

  private final transient Fault fault;
  private final transient List<Drawn> drawn;

  /**
   * Of a call that had brought nothing.
   *
   * @param where the server
   */
  public EndpointException(Endpoint where, Fault fault) {
    this(where, fault, List.of());
  }

  /**
   * Of a draw.
   *
   * @param drawn what had come of each completion; one that had not ended was cut
   */
  EndpointException(Endpoint where, Fault fault, List<Drawn> drawn) {
    super("%s: %s".formatted(where, fault));
    this.fault = fault;
    this.drawn = drawn.stream().map(Drawn::cut).toList();
  }

  public Fault fault() {
    return fault;
  }

  /** What had come of each completion before it failed. */
  List<Drawn> drawn() {
    return drawn;
  }

  /** Tokens that had come before it failed, of all completions. */
  public int tokens() {
    return drawn.stream().mapToInt(one -> one.tokens().length).sum();
  }
}

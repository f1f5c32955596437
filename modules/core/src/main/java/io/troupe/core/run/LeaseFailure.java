package io.troupe.core.run;

/**
 * The reason why a worker could not answer a lease, by the part that failed: only a failure that
 * speaks against the prompt itself is an attempt of it.
 */
public sealed interface LeaseFailure {
  /** One line for a person. */
  String reason();

  /**
   * The prompt or one of its completions cannot be done, and others can: no engine takes the
   * request, or a verifier that judges others fails on this completion.
   */
  record OfPrompt(String reason) implements LeaseFailure {}

  /** The engine, a server or the weights behind it failed, whatever the prompt was. */
  record OfEngine(String reason) implements LeaseFailure {}

  /** The agent program of an episode, or the environment of its tools, failed. */
  record OfEnvironment(String reason) implements LeaseFailure {}

  /** No verifier is there to judge the completions, which are as good as ever. */
  record OfVerifier(String reason) implements LeaseFailure {}
}

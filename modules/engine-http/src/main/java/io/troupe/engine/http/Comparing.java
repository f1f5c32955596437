package io.troupe.engine.http;

import io.troupe.engine.http.protocol.WeightTag;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last step of an update with adapters: whether the server is the one that it was, and whether
 * it draws what the run's policy would. Of the thread that makes the server's updates.
 */
final class Comparing {
  private static final Logger LOG = LoggerFactory.getLogger(Comparing.class);

  private final String server;
  private final UpdateCalls calls;
  private Comparisons last = Comparisons.NONE;

  /** Of a server that nothing is known of. */
  Comparing(String server, UpdateCalls calls) {
    this.server = server;
    this.calls = calls;
  }

  /**
   * Takes the step.
   *
   * @param life another number whenever the server may have been started anew
   * @throws EndpointException if the server does not answer
   */
  Update take(Update update, Attendant.Goal goal, Capabilities can, long life)
      throws InterruptedException {
    WeightTag tag = goal.tag();
    if (!last.sameLife(life)) {
      return compared(update, goal, can, life, false);
    }
    return switch (calls.life(tag, can)) {
      case SAME ->
          last.due(tag.version()) ? compared(update, goal, can, life, true) : update.succeeded();
      case UNTOLD -> compared(update, goal, can, life, false);
      case ANOTHER ->
          update.failed(
              "it has lost the adapters that it had before: it was started anew, and is looked at");
    };
  }

  /**
   * Compares.
   *
   * @param again whether this life of the server was compared before: then a failure of this
   *     process is no reason to leave the server without work
   */
  private Update compared(
      Update update, Attendant.Goal goal, Capabilities can, long life, boolean again)
      throws InterruptedException {
    return switch (calls.compare(goal, can)) {
      case BaseTrial.Verdict.Alike(Addition addition) -> {
        last = new Comparisons(life, goal.tag().version().number());
        tell(goal.tag(), addition);
        yield update.succeeded();
      }
      case BaseTrial.Verdict.Different(String how) -> update.failed(how);
      case BaseTrial.Verdict.Unable(String why) -> {
        if (again) {
          LOG.warn("server={} weights={} not_compared={}", server, goal.tag(), why);
          yield update.succeeded();
        }
        yield update.unable(why);
      }
    };
  }

  private void tell(WeightTag tag, Addition addition) {
    switch (addition) {
      case Addition.Seen(int agree, int tokens) ->
          LOG.info("server={} adapter={} added=yes by={} of={}", server, tag, agree, tokens);
      case Addition.Untold(String why) ->
          LOG.info("server={} adapter={} added=untold reason=\"{}\"", server, tag, why);
      case Addition.Otherwise(String how) ->
          throw new IllegalStateException("no server is alike that adds otherwise: " + how);
    }
  }
}

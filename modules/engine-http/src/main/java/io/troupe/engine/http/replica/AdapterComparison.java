package io.troupe.engine.http.replica;

import io.troupe.engine.http.probe.Capabilities;
import io.troupe.engine.protocol.WeightTag;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last step of an update with adapters: whether the server is the one that it was, and whether
 * it draws what the run's policy would. Of the thread that makes the server's updates.
 */
final class AdapterComparison {
  private static final Logger LOG = LoggerFactory.getLogger(AdapterComparison.class);

  private final String server;
  private final WeightUpdateCalls calls;
  private ComparisonSchedule last = ComparisonSchedule.NONE;

  /** Of a server that nothing is known of. */
  AdapterComparison(String server, WeightUpdateCalls calls) {
    this.server = server;
    this.calls = calls;
  }

  /**
   * Takes the step.
   *
   * @param life another number whenever the server may have been started anew
   * @throws io.troupe.engine.http.client.InferenceCallException if the server does not answer
   */
  WeightUpdate take(
      WeightUpdate update, WeightSyncLoop.TargetWeightSet goal, Capabilities can, long life)
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
  private WeightUpdate compared(
      WeightUpdate update,
      WeightSyncLoop.TargetWeightSet goal,
      Capabilities can,
      long life,
      boolean again)
      throws InterruptedException {
    return switch (calls.compare(goal, can)) {
      case BaseModelCheck.CheckOutcome.SameModel(AdapterEffect addition) -> {
        last = new ComparisonSchedule(life, goal.tag().version().number());
        tell(goal.tag(), addition);
        yield update.succeeded();
      }
      case BaseModelCheck.CheckOutcome.OtherModel(String how) -> update.failed(how);
      case BaseModelCheck.CheckOutcome.Unable(String why) -> {
        if (again) {
          LOG.warn("server={} weights={} not_compared={}", server, goal.tag(), why);
          yield update.succeeded();
        }
        yield update.unable(why);
      }
    };
  }

  private void tell(WeightTag tag, AdapterEffect addition) {
    switch (addition) {
      case AdapterEffect.TokenAgreement(int agree, int tokens) ->
          LOG.info("server={} adapter={} added=yes by={} of={}", server, tag, agree, tokens);
      case AdapterEffect.Inconclusive(String why) ->
          LOG.info("server={} adapter={} added=untold reason=\"{}\"", server, tag, why);
      case AdapterEffect.NotAdded(String how) ->
          throw new IllegalStateException("no server is alike that adds otherwise: " + how);
    }
  }
}

package io.troupe.console;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.rollout.GroupId;
import io.troupe.core.rollout.WorkerId;
import io.troupe.core.run.Order;
import io.troupe.core.run.Verb;
import java.util.List;
import java.util.Locale;

/**
 * Orders as they come over the wire: {@code {"verb": "requeue", "group": 7, "by": …, "why": …}}.
 */
final class Verbs {
  static final List<String> NAMES =
      List.of(
          "pause",
          "resume",
          "requeue",
          "cancel",
          "checkpoint",
          "drain",
          "limit",
          "restart",
          "quarantine",
          "release",
          "log");

  private static final List<String> LEVELS =
      List.of("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "OFF");

  private Verbs() {}

  static Verb verb(JsonNode body) throws Refusal {
    String name = text(body, "verb");
    try {
      return switch (name) {
        case "pause" -> new Verb.PauseAdmission();
        case "resume" -> new Verb.ResumeAdmission();
        case "requeue" -> new Verb.RequeueGroup(group(body));
        case "cancel" -> new Verb.CancelGroup(group(body));
        case "checkpoint" -> new Verb.SaveCheckpoint();
        case "drain" -> drain(body);
        case "limit" -> new Verb.LimitConcurrency(body.path("groups").asInt());
        case "restart" -> new Verb.RestartWorker(new WorkerId(text(body, "worker")));
        case "quarantine" -> new Verb.QuarantineVerifier(text(body, "verifier"));
        case "release" -> new Verb.ReleaseVerifier(text(body, "verifier"));
        case "log" -> new Verb.SetLogLevel(text(body, "logger"), level(body));
        case "max_staleness" ->
            throw new Refusal(
                400,
                "max_staleness is what the run is an experiment on, so it does not change under it;"
                    + " what makes rollouts younger is more workers, smaller groups or fewer of"
                    + " them at a time (limit)");
        default ->
            throw new Refusal(
                400,
                "there is no verb '%s'; there are %s".formatted(name, String.join(", ", NAMES)));
      };
    } catch (IllegalArgumentException bad) {
      throw new Refusal(400, String.valueOf(bad.getMessage()));
    }
  }

  static Order order(JsonNode body, Tokens.Role role) throws Refusal {
    String by = text(body, "by");
    try {
      return new Order(by.isBlank() ? role.name().toLowerCase(Locale.ROOT) : by, text(body, "why"));
    } catch (IllegalArgumentException bad) {
      throw new Refusal(400, String.valueOf(bad.getMessage()));
    }
  }

  /** The run, unless a node or a worker is named. */
  private static Verb drain(JsonNode body) {
    if (body.has("node")) {
      return new Verb.DrainNode(text(body, "node"));
    }
    return body.has("worker")
        ? new Verb.DrainWorker(new WorkerId(text(body, "worker")))
        : new Verb.Drain();
  }

  private static GroupId group(JsonNode body) {
    return new GroupId(body.path("group").asLong());
  }

  private static String level(JsonNode body) throws Refusal {
    String level = text(body, "level").toUpperCase(Locale.ROOT);
    if (!LEVELS.contains(level)) {
      throw new Refusal(400, "a log level is one of " + String.join(", ", LEVELS));
    }
    return level;
  }

  private static String text(JsonNode body, String name) {
    return body.path(name).asText("");
  }
}

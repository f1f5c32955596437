package io.troupe.cli.verify;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import java.util.List;
import java.util.Locale;

/**
 * A verdict as a line of the output.
 *
 * @param head beginning of the line
 * @param millis on a worker, waiting for one left out
 */
record OutputLine(ObjectNode head, Verdict verdict, double millis) {
  // Half a surrogate pair of a completion can be written escaped, and not as UTF-8.
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  /**
   * The line's text.
   *
   * @param instructions whether the verdict's checks are instructions, which have two readings
   */
  String text(boolean instructions) {
    ObjectNode node = head.deepCopy();
    switch (verdict) {
      case Verdict.Scored scored -> {
        node.put("reward", scored.reward());
        node.put("passed", scored.passed());
        node.put("outcome", "scored");
        node.put("reason", scored.reason());
        node.put("extracted", scored.extracted());
        put(node, scored.checks(), instructions);
      }
      case Verdict.Unverifiable(Verdict.Cause cause, String reason) -> {
        node.put("reward", 0.0);
        node.put("passed", false);
        node.put("outcome", cause.name().toLowerCase(Locale.ROOT));
        node.put("reason", reason);
        node.put("extracted", "");
      }
    }
    node.put("millis", Math.round(millis * 1000) / 1000.0);
    try {
      return JSON.writeValueAsString(node);
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static void put(ObjectNode node, List<Check> checks, boolean instructions) {
    if (instructions) {
      ArrayNode strict = node.putArray("per_instruction");
      checks.forEach(check -> strict.add(check.passed()));
      ArrayNode loose = node.putArray("per_instruction_loose");
      checks.forEach(check -> loose.add(check.passedLoosely()));
    } else if (!checks.isEmpty()) {
      ArrayNode parts = node.putArray("checks");
      for (Check check : checks) {
        parts.addObject().put("name", check.name()).put("passed", check.passed());
      }
    }
  }
}

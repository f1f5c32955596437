package io.troupe.real;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.util.Optional;

/** What a driver found in one case. */
record CaseResult(String name, CaseOutcome outcome, String expected, String got, String why) {
  enum CaseOutcome {
    OK,
    FAILED,
    SKIPPED
  }

  private static final JsonMapper JSON = new JsonMapper();

  /**
   * Returns the case of a line such as {@code {"case": "a", "ok": false, "expected": 1, "got": 2}}
   * or {@code {"case": "b", "skipped": true, "why": "needs a GPU"}}; empty if the line is none.
   */
  static Optional<CaseResult> parse(String line) {
    try {
      JsonNode fields = JSON.readTree(line);
      boolean ok = fields.path("ok").isBoolean();
      boolean skipped = fields.path("skipped").asBoolean();
      return fields.path("case").isTextual() && (ok || skipped)
          ? Optional.of(of(fields, skipped))
          : Optional.empty();
    } catch (IOException notJson) {
      return Optional.empty();
    }
  }

  private static CaseResult of(JsonNode fields, boolean skipped) {
    CaseOutcome outcome =
        skipped
            ? CaseOutcome.SKIPPED
            : fields.path("ok").asBoolean() ? CaseOutcome.OK : CaseOutcome.FAILED;
    return new CaseResult(
        fields.path("case").asText(),
        outcome,
        text(fields.path("expected")),
        text(fields.path("got")),
        text(fields.path("why")));
  }

  private static String text(JsonNode value) {
    return value.isTextual() || value.isMissingNode() ? value.asText() : value.toString();
  }
}

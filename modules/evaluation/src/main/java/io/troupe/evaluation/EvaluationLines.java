package io.troupe.evaluation;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.core.reward.Check;
import io.troupe.core.reward.Verdict;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * The lines of an evaluation's files.
 *
 * @param task written into each line; empty where the evaluation has one task
 */
record EvaluationLines(String task) {
  /** Half a surrogate pair of a completion can be written escaped, and not as UTF-8. */
  static final JsonMapper JSON =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build())
                  .build())
          .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
          .disable(SerializationFeature.INDENT_OUTPUT)
          .build();

  static final String SCORED = "scored";

  /** A writer of lines, which closes the stream. */
  static JsonGenerator writer(OutputStream out) throws IOException {
    return JSON.createGenerator(out).setRootValueSeparator(null);
  }

  private void begin(JsonGenerator out, EvaluationItem item) throws IOException {
    out.writeStartObject();
    if (!task.isEmpty()) {
      out.writeStringField("task", task);
    }
    out.writeStringField("id", item.id());
  }

  private void begin(JsonGenerator out, EvaluationItem item, int sample) throws IOException {
    begin(out, item);
    out.writeNumberField("sample", sample);
  }

  private static void end(JsonGenerator out) throws IOException {
    out.writeEndObject();
    out.writeRaw('\n');
  }

  /** Returns the beginnings of the lines of a prompt's samples, in both files. */
  List<String> heads(EvaluationItem item, int samples) {
    StringWriter open = new StringWriter();
    try (JsonGenerator out = JSON.createGenerator(open)) {
      begin(out, item);
      out.flush();
      String head = open.toString();
      return IntStream.range(0, samples)
          .mapToObj(sample -> "%s,\"sample\":%d,".formatted(head, sample))
          .toList();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  void prompt(JsonGenerator out, EvaluationItem item) throws IOException {
    begin(out, item);
    out.writeStringField("source", item.prompt().source());
    out.writeObjectFieldStart("facets");
    for (Map.Entry<String, String> facet : new TreeMap<>(item.facets()).entrySet()) {
      out.writeStringField(facet.getKey(), facet.getValue());
    }
    out.writeEndObject();
    out.writeStringField("prompt", item.prompt().text());
    end(out);
  }

  void completion(JsonGenerator out, EvaluationItem item, int sample, Answer answer)
      throws IOException {
    begin(out, item, sample);
    out.writeStringField("completion", answer.text());
    out.writeNumberField("tokens", answer.tokens());
    out.writeStringField("finish", answer.finish());
    if (!answer.episode().turns().isEmpty()) {
      out.writeStringField("stop", answer.episode().stop());
      out.writePOJOField("turns", answer.episode().turns());
    }
    end(out);
  }

  void result(JsonGenerator out, EvaluationItem item, int sample, Verdict verdict)
      throws IOException {
    begin(out, item, sample);
    switch (verdict) {
      case Verdict.Scored scored -> {
        judged(out, scored.reward(), scored.passed(), SCORED);
        out.writeStringField("extracted", scored.extracted());
        out.writeStringField("reason", scored.reason());
        if (!scored.checks().isEmpty()) {
          out.writeArrayFieldStart("checks");
          for (Check check : scored.checks()) {
            out.writeStartObject();
            out.writeStringField("name", check.name());
            out.writeBooleanField("passed", check.passed());
            out.writeBooleanField("passed_loosely", check.passedLoosely());
            out.writeEndObject();
          }
          out.writeEndArray();
        }
      }
      case Verdict.Unverifiable(Verdict.Cause cause, String reason) -> {
        judged(out, 0, false, cause.name().toLowerCase(Locale.ROOT));
        out.writeStringField("extracted", "");
        out.writeStringField("reason", reason);
      }
    }
    end(out);
  }

  private static void judged(JsonGenerator out, double reward, boolean passed, String outcome)
      throws IOException {
    out.writeNumberField("reward", reward);
    out.writeBooleanField("passed", passed);
    out.writeStringField("outcome", outcome);
  }
}

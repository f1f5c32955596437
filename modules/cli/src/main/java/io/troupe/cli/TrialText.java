package io.troupe.cli;

import io.troupe.base.text.SafeText;
import io.troupe.core.prompt.LiteralMark;
import io.troupe.core.reward.Verdict;
import io.troupe.evaluation.Answer;
import io.troupe.run.evaluation.PolicyTrial.TriedCompletion;
import io.troupe.run.evaluation.PolicyTrial.TriedPrompt;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** The prompts and completions of {@code plan --try}, for people and for programs. */
record TrialText(List<TriedPrompt> tried) {
  private static final int PROMPT_END = 600;
  private static final int COMPLETION = 1200;
  private static final int LINE = 200;

  TrialText {
    tried = List.copyOf(tried);
  }

  private Stream<TriedCompletion> completions() {
    return tried.stream().flatMap(each -> each.completions().stream());
  }

  private long count(Predicate<TriedCompletion> which) {
    return completions().filter(which).count();
  }

  private static boolean unjudged(TriedCompletion each) {
    return each.verdict().verdict() instanceof Verdict.Unverifiable;
  }

  /** Whether every completion could be judged. */
  boolean judged() {
    return count(TrialText::unjudged) == 0;
  }

  List<String> lines() {
    List<String> lines = new ArrayList<>();
    for (TriedPrompt each : tried) {
      String prompt = LiteralMark.removed(each.prompt().text());
      lines.add("");
      lines.add(
          String.format(
              Locale.ROOT,
              "── prompt %s of %s · %d tokens · %d completions sampled in %.2f s",
              each.prompt().id(),
              each.prompt().source(),
              each.tokens(),
              each.completions().size(),
              each.seconds()));
      lines.addAll(shown(prompt.length() > PROMPT_END ? "…" + end(prompt, PROMPT_END) : prompt));
      lines.add("── expected  " + SafeText.of(each.prompt().answer()));
      for (TriedCompletion completion : each.completions()) {
        lines.add(heading(completion));
        List<Answer.AnswerTurn> turns = completion.answer().episode().turns();
        for (int i = 0; i < turns.size() - 1; i++) {
          lines.add("   turn %d: %s".formatted(i + 1, SafeText.of(turns.get(i).sampled(), LINE)));
          lines.add("     then: %s".formatted(SafeText.of(turns.get(i + 1).observed(), LINE)));
        }
        lines.addAll(shown(begin(completion.answer().text())));
      }
    }
    lines.add("");
    lines.add(summary());
    return lines;
  }

  private static String heading(TriedCompletion each) {
    Answer answer = each.answer();
    String cut = answer.finish().equals(Answer.LENGTH) ? ", cut off by the limit" : "";
    String turns =
        answer.episode().turns().isEmpty()
            ? ""
            : ", %d turns, ended by %s"
                .formatted(answer.episode().turns().size(), answer.episode().stop());
    String verdict =
        switch (each.verdict().verdict()) {
          case Verdict.Scored(double reward, String extracted, String reason, var _, var _) ->
              "reward %s%s%s"
                  .formatted(
                      Double.toString(reward),
                      extracted.isEmpty() ? "" : " · read as " + SafeText.of(extracted),
                      reason.isEmpty() ? "" : " · " + SafeText.of(reason));
          case Verdict.Unverifiable(var _, String reason) ->
              "no reward: " + SafeText.of(reason, 400);
        };
    return String.format(
        Locale.ROOT,
        "── completion, %d tokens%s%s · %s · judged in %.1f ms",
        answer.tokens(),
        cut,
        turns,
        verdict,
        each.verdict().millis());
  }

  private String summary() {
    double mean =
        completions()
            .map(each -> each.verdict().verdict())
            .filter(Verdict.Scored.class::isInstance)
            .mapToDouble(each -> ((Verdict.Scored) each).reward())
            .average()
            .orElse(Double.NaN);
    List<String> parts = new ArrayList<>();
    parts.add(
        String.format(
            Locale.ROOT,
            "trial  %d prompts, %d completions: %s",
            tried.size(),
            completions().count(),
            Double.isNaN(mean)
                ? "no reward"
                : String.format(Locale.ROOT, "mean reward %.3f", mean)));
    parts.add(
        count(each -> each.verdict().verdict() instanceof Verdict.Scored scored && scored.passed())
            + " pass");
    parts.add(count(each -> each.answer().finish().equals(Answer.LENGTH)) + " cut off");
    parts.add(count(each -> each.answer().text().isBlank()) + " empty");
    parts.add(count(TrialText::unjudged) + " not judged");
    return String.join(", ", parts);
  }

  private static String begin(String text) {
    return text.codePointCount(0, text.length()) <= COMPLETION
        ? text
        : text.substring(0, text.offsetByCodePoints(0, COMPLETION)) + "…";
  }

  private static String end(String text, int longest) {
    return text.substring(
        text.offsetByCodePoints(
            text.length(), -Math.min(longest, text.codePointCount(0, text.length()))));
  }

  /** The lines of a text as a terminal may show them. */
  private static List<String> shown(String text) {
    return text.lines().map(line -> SafeText.of(line, Integer.MAX_VALUE - 1)).toList();
  }

  Map<String, Object> json() {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("prompts", tried.stream().map(TrialText::json).toList());
    return json;
  }

  private static Map<String, Object> json(TriedPrompt each) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("id", each.prompt().id().value());
    json.put("source", each.prompt().source());
    json.put("prompt", LiteralMark.removed(each.prompt().text()));
    json.put("prompt_tokens", each.tokens());
    json.put("answer", each.prompt().answer());
    json.put("seconds", each.seconds());
    json.put("completions", each.completions().stream().map(TrialText::json).toList());
    return json;
  }

  private static Map<String, Object> json(TriedCompletion each) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("text", each.answer().text());
    json.put("tokens", each.answer().tokens());
    json.put("finish", each.answer().finish());
    if (!each.answer().episode().turns().isEmpty()) {
      json.put("turns", each.answer().episode().turns().size());
      json.put("stop", each.answer().episode().stop());
    }
    switch (each.verdict().verdict()) {
      case Verdict.Scored scored -> {
        json.put("reward", scored.reward());
        json.put("passed", scored.passed());
        json.put("extracted", scored.extracted());
        json.put("reason", scored.reason());
      }
      case Verdict.Unverifiable(Verdict.Cause cause, String reason) -> {
        json.put("outcome", cause.name().toLowerCase(Locale.ROOT));
        json.put("reason", reason);
      }
    }
    json.put("judge_millis", each.verdict().millis());
    return json;
  }
}

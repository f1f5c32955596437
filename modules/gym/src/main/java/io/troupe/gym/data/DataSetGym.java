package io.troupe.gym.data;

import io.troupe.base.hash.Sha256;
import io.troupe.core.prompt.Prompt;
import io.troupe.core.prompt.PromptId;
import io.troupe.core.reward.Verdict;
import io.troupe.gym.item.GymItem;
import io.troupe.gym.item.GymTask;
import io.troupe.gym.item.RowForm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Items of data sets, judged by the data sets' own verifiers. A row of another writer is judged by
 * the verifier of the source that its skill's items come from.
 */
public final class DataSetGym implements GymTask {
  private final GymItems items;
  private final GymJudges judging;
  private final Map<String, Prompt> prompts = new HashMap<>();
  private final Map<String, String> ids = new HashMap<>();
  private final Map<String, String> sources = new LinkedHashMap<>();

  /**
   * A task.
   *
   * @param prompts that the items were made of
   * @throws io.troupe.tasks.rows.TaskDataException if two parts share an item; names them
   */
  public DataSetGym(GymItems items, List<Prompt> prompts, GymJudges judging) {
    this.items = items;
    this.judging = judging;
    Map<String, List<GymItem>> parts = new LinkedHashMap<>();
    parts.put("validation", items.validation());
    parts.put("test", items.test());
    parts.put("examples", items.examples());
    HeldApart.require(parts);
    prompts.forEach(prompt -> this.prompts.put(prompt.id().value(), prompt));
    for (GymItem item : all().toList()) {
      ids.put(HeldApart.normal(item.prompt()), item.id());
      sources.putIfAbsent(
          item.skill(), Objects.requireNonNull(this.prompts.get(item.id())).source());
    }
  }

  private Stream<GymItem> all() {
    return Stream.of(items.validation(), items.test(), items.examples()).flatMap(List::stream);
  }

  @Override
  public String name() {
    return "datasets";
  }

  @Override
  public List<GymItem> validation() {
    return items.validation();
  }

  @Override
  public List<GymItem> test() {
    return items.test();
  }

  @Override
  public GymItem item(String skill, String subskill, String prompt, String answer) {
    String normal = HeldApart.normal(prompt);
    String id = ids.getOrDefault(normal, "made/" + digest(normal));
    return new GymItem(id, skill, subskill, prompt, answer);
  }

  /** Returns the same task whose items have other skills, by their ids. */
  public DataSetGym withSkills(Map<String, String> skills) {
    return new DataSetGym(
        new GymItems(
            relabelled(items.validation(), skills),
            relabelled(items.test(), skills),
            relabelled(items.examples(), skills)),
        List.copyOf(prompts.values()),
        judging);
  }

  private static List<GymItem> relabelled(List<GymItem> items, Map<String, String> skills) {
    return items.stream()
        .map(
            item ->
                new GymItem(
                    item.id(),
                    skills.getOrDefault(item.id(), item.skill()),
                    "",
                    item.prompt(),
                    item.answer()))
        .toList();
  }

  private static String digest(String text) {
    return Sha256.hex(text.getBytes(StandardCharsets.UTF_8)).substring(0, 16);
  }

  @Override
  public List<GymItem> examples(String skill, String subskill, int most) {
    List<GymItem> near = new ArrayList<>();
    for (GymItem item : items.examples()) {
      if (item.skill().equals(skill)
          && (subskill.isEmpty() || item.subskill().equals(subskill))
          && near.size() < most) {
        near.add(item);
      }
    }
    return near;
  }

  @Override
  public RowForm form(String skill) {
    return switch (judging.verifier(source(skill))) {
      case "gsm8k" -> RowForm.GSM8K;
      case "math" -> RowForm.MATH;
      case "mbpp" -> RowForm.CODE;
      case "numeric", "choice", "text" -> RowForm.ANSWER;
      default -> RowForm.GIVEN;
    };
  }

  private String source(String skill) {
    return sources.getOrDefault(skill, sources.values().iterator().next());
  }

  @Override
  public boolean passes(GymItem item, String response) {
    Prompt own = prompts.get(item.id());
    Prompt prompt =
        own != null
            ? own
            : new Prompt(
                new PromptId(item.id()), source(item.skill()), item.prompt(), item.answer(), "");
    return switch (judging.verdict(prompt, response)) {
      case Verdict.Scored scored -> scored.passed();
      case Verdict.Unverifiable(Verdict.Cause cause, String reason)
          when cause == Verdict.Cause.AWAY ->
          throw new UncheckedIOException(
              new IOException("no verifier judges %s: %s".formatted(item.id(), reason)));
      case Verdict.Unverifiable _ -> false;
    };
  }

  @Override
  public void close() {
    judging.close();
  }
}

package io.troupe.tasks.rows;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The part that a column plays, with the names that it has in data sets made for TRL, verl,
 * OpenRLHF, OpenAI's interfaces, and on the hub; the usual ones first.
 */
@SuppressWarnings("ImmutableEnumChecker") // a list of texts that nobody can change
public enum ColumnRole {
  ID(
      "id",
      "uid",
      "uuid",
      "_id",
      "unique_id",
      "question_id",
      "problem_id",
      "prompt_id",
      "task_id",
      "key",
      "index",
      "idx",
      "extra_info.index"),
  QUESTION(
      "prompt",
      "question",
      "problem",
      "query",
      "instruction",
      "input",
      "messages",
      "conversations",
      "conversation",
      "raw_prompt",
      "context_messages",
      "text"),
  ANSWER(
      "answer",
      "ground_truth",
      "reward_model.ground_truth",
      "label",
      "solution",
      "final_answer",
      "expected_answer",
      "correct_answer",
      "reference_answer",
      "gold",
      "target",
      "answerKey",
      "extra_info.answer",
      "reward_spec.ground_truth",
      "output",
      "response"),
  COMPLETION("completion", "response", "output", "chosen", "answer", "solution", "label"),
  CONVERSATION("messages", "conversations", "conversation", "chosen");

  private final List<String> names;

  ColumnRole(String... names) {
    this.names = List.of(names);
  }

  /** Returns the column of a row that somebody meant who asked for {@code wanted}, if any. */
  static Optional<String> meant(String wanted, ObjectNode fields) {
    Optional<String> spelled =
        fields
            .propertyStream()
            .map(field -> field.getKey())
            .filter(name -> plain(name).equals(plain(wanted)))
            .findFirst();
    return spelled.or(
        () ->
            Arrays.stream(values())
                .filter(role -> role.names.contains(wanted))
                .flatMap(role -> role.in(fields))
                .findFirst());
  }

  /** Returns the columns of a row that may play this part, the likeliest first. */
  public Stream<String> in(ObjectNode fields) {
    return names.stream().filter(name -> !ValueText.isAbsent(FieldPath.value(fields, name)));
  }

  private static String plain(String name) {
    return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "");
  }
}

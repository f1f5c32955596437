package io.troupe.tasks.sets;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.core.reward.JudgedBy;
import io.troupe.tasks.rows.RowException;
import io.troupe.tasks.rows.ValueText;
import java.util.ArrayList;
import java.util.List;

/** The expected answer of a row, in the form that its verifier reads. */
public final class GoldText {
  private GoldText() {}

  /**
   * Returns the expected answer that a field holds.
   *
   * <p>A text stays as it is, a number is in plain notation, a list of one is its item. A list of
   * several is taken by verifiers of accepted texts, a line each. Verifiers that read fields, and
   * those of a user's own, take lists and objects as JSON. Verifiers that need no answer take a
   * blank one as none.
   *
   * @param field for messages
   * @throws RowException if there is no answer, or the verifier cannot read its form
   */
  public static String of(String field, JsonNode value, JudgedBy by) throws RowException {
    JsonNode only = value.isArray() && value.size() == 1 ? value.path(0) : value;
    boolean needed = !(by instanceof JudgedBy.AnyAnswer || by instanceof JudgedBy.AllFields);
    if (isBlank(needed ? only : value)) {
      if (!needed) {
        return "";
      }
      throw bad(field, "must hold the answer", value, "");
    }
    return switch (by) {
      case JudgedBy.OneAnswer _ -> one(field, only);
      case JudgedBy.AcceptedTexts _ -> only.isArray() ? lines(field, only) : one(field, only);
      case JudgedBy.NamedFields named -> {
        if (value.isContainerNode() || value.isTextual()) {
          yield value.isTextual() ? value.textValue() : value.toString();
        }
        throw bad(
            field,
            "must hold an object, because the verifier reads its fields",
            value,
            "it reads " + String.join(", ", named.names()));
      }
      case JudgedBy.AnyAnswer _, JudgedBy.AllFields _ ->
          ValueText.of(value).orElseGet(value::toString);
    };
  }

  private static String one(String field, JsonNode value) throws RowException {
    return ValueText.of(value)
        .orElseThrow(
            () ->
                bad(
                    field,
                    "must hold one answer, a text or a number",
                    value,
                    value.isArray()
                        ? "keep the right one, or write all of them as the one text that the"
                            + " verifier reads"
                        : "name the field inside it, such as %s.%s"
                            .formatted(field, value.fieldNames().next())));
  }

  private static String lines(String field, JsonNode list) throws RowException {
    List<String> texts = new ArrayList<>();
    for (JsonNode each : list) {
      if (isBlank(each) || each.isContainerNode()) {
        throw bad(field, "must hold a text or a list of texts", list, "");
      }
      texts.add(ValueText.of(each).orElseThrow().replaceAll("\\R", " "));
    }
    return String.join("\n", texts);
  }

  private static boolean isBlank(JsonNode value) {
    return value.isContainerNode()
        ? value.isEmpty()
        : ValueText.isAbsent(value) || (value.isTextual() && value.textValue().isBlank());
  }

  private static RowException bad(String field, String rule, JsonNode value, String remedy) {
    return new RowException("\"%s\" %s".formatted(field, rule), value, remedy);
  }
}

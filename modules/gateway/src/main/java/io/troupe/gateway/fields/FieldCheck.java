package io.troupe.gateway.fields;

import com.fasterxml.jackson.databind.JsonNode;
import io.troupe.base.text.NearWords;
import io.troupe.engine.protocol.JsonFields;
import io.troupe.gateway.dialog.MalformedTurnException;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Holds a request against the rules of its fields. Whatever passes is read, or asks for what
 * happens anyway; everything else is refused by its name.
 */
final class FieldCheck {
  private static final int MOST_STOPS = 1024;
  private static final int MOST_STOP_LENGTH = 4096;

  /** Separates the reason of a refusal from what to do instead. */
  private static final String REMEDY = "; ";

  private final RequestReader reader;

  FieldCheck(RequestReader reader) {
    this.reader = reader;
  }

  /**
   * Checks an object. A null says that a field was left out, so that one which is not known here
   * passes in what a request holds: clients send messages back with all of their members.
   *
   * @param where path of the object with a point behind it; empty for the request
   */
  void members(JsonNode object, Map<String, FieldRule> rules, String where)
      throws MalformedTurnException {
    for (Map.Entry<String, JsonNode> member : object.properties()) {
      FieldRule rule = rules.get(member.getKey());
      boolean nothing = member.getValue().isNull();
      if (rule == null && nothing && !where.isEmpty()) {
        continue;
      }
      if (rule == null) {
        throw unknown(member.getKey(), rules, where);
      }
      if (!nothing) {
        obey(rule, member.getValue(), where + member.getKey());
      }
    }
  }

  private static MalformedTurnException unknown(
      String name, Map<String, FieldRule> rules, String where) {
    String shown = where + JsonFields.excerpt(name);
    return new MalformedTurnException(
        shown,
        "%s is no field that is known here; %s"
            .formatted(
                shown,
                NearWords.nearest(name, rules.keySet())
                    .map("did you mean %s?"::formatted)
                    .orElse("leave it out")));
  }

  private void obey(FieldRule rule, JsonNode value, String name) throws MalformedTurnException {
    switch (rule) {
      case FieldRule.Read(FieldShape shape) -> shaped(shape, value, name);
      case FieldRule.OfServer(FieldShape shape) -> shaped(shape, value, name);
      case FieldRule.PassedOver(FieldShape shape) -> shaped(shape, value, name);
      case FieldRule.Limited limited -> {
        shaped(limited.shape(), value, name);
        if (!limited.readers().contains(reader)) {
          plain(limited.plain(), limited.why(), value, name);
        }
      }
      case FieldRule.Only(List<JsonNode> plain, String why) -> plain(plain, why, value, name);
    }
  }

  private static void plain(List<JsonNode> plain, String why, JsonNode value, String name)
      throws MalformedTurnException {
    if (plain.stream().noneMatch(each -> same(each, value))) {
      String accepted = plain.stream().map(JsonNode::toString).collect(Collectors.joining(" or "));
      String remedy =
          plain.isEmpty() ? "leave it out" : "leave it out, or send %s".formatted(accepted);
      throw new MalformedTurnException(
          name,
          "%s is not served: %s%s"
              .formatted(name, why, why.contains(REMEDY) ? "" : REMEDY + remedy));
    }
  }

  private static boolean same(JsonNode one, JsonNode other) {
    return (one.isNumber() && other.isNumber())
        ? one.doubleValue() == other.doubleValue()
        : one.equals(other);
  }

  private void shaped(FieldShape shape, JsonNode value, String name) throws MalformedTurnException {
    switch (shape) {
      case FieldShape.Any _ -> {}
      case FieldShape.Text _ -> require(value.isTextual(), value, name, "a text");
      case FieldShape.Flag _ -> require(value.isBoolean(), value, name, "true or false");
      case FieldShape.Whole whole -> whole(whole, value, name);
      case FieldShape.Decimal decimal -> decimal(decimal, value, name);
      case FieldShape.OneOf(List<String> texts) ->
          require(
              value.isTextual() && texts.contains(value.textValue()),
              value,
              name,
              "one of " + String.join(", ", texts));
      case FieldShape.Stops _ -> stops(value, name);
      case FieldShape.Ids _ -> ids(value, name);
      case FieldShape.Members _ -> require(value.isObject(), value, name, "an object");
      case FieldShape.Fields(Map<String, FieldRule> rules) -> {
        require(value.isObject(), value, name, "an object");
        members(value, rules, name + ".");
      }
      case FieldShape.Each(FieldShape each) -> {
        require(value.isArray(), value, name, "a list");
        for (int i = 0; i < value.size(); i++) {
          shaped(each, value.path(i), "%s[%d]".formatted(name, i));
        }
      }
      case FieldShape.TextOr(FieldShape other) -> {
        if (!value.isTextual()) {
          shaped(other, value, name);
        }
      }
    }
  }

  private static void whole(FieldShape.Whole shape, JsonNode value, String name)
      throws MalformedTurnException {
    require(value.isIntegralNumber() && value.canConvertToLong(), value, name, "a whole number");
    long number = value.longValue();
    require(
        number >= shape.min() && number <= shape.max(),
        name,
        shape.max() >= Integer.MAX_VALUE
            ? "%s is %d or more, and is %d".formatted(name, shape.min(), number)
            : "%s lies in [%d, %d], and is %d".formatted(name, shape.min(), shape.max(), number));
  }

  private static void decimal(FieldShape.Decimal shape, JsonNode value, String name)
      throws MalformedTurnException {
    require(
        value.isNumber() && Double.isFinite(value.doubleValue()), value, name, "a finite number");
    double number = value.doubleValue();
    boolean fits = shape.above() ? number > shape.min() : number >= shape.min();
    String lower = (shape.above() ? "greater than " : "at least ") + text(shape.min());
    String upper = shape.max() == Double.MAX_VALUE ? "" : " and at most " + text(shape.max());
    require(
        fits && number <= shape.max(),
        name,
        "%s is %s%s, not %s".formatted(name, lower, upper, value));
  }

  private static String text(double bound) {
    return Long.toString(Math.round(bound));
  }

  private static void stops(JsonNode value, String name) throws MalformedTurnException {
    boolean list = value.isArray();
    boolean longer = value.isTextual() && value.textValue().length() > MOST_STOP_LENGTH;
    for (JsonNode stop : value) {
      longer |= stop.isTextual() && stop.textValue().length() > MOST_STOP_LENGTH;
    }
    require(
        !longer && value.size() <= MOST_STOPS,
        name,
        "%s has at most %d texts of %d characters".formatted(name, MOST_STOPS, MOST_STOP_LENGTH));
    require(value.isTextual() || list, value, name, "a text or a list of texts");
    for (JsonNode stop : list ? value : List.of(value)) {
      require(stop.isTextual(), stop, name, "a text or a list of texts");
      require(
          !stop.textValue().isEmpty(),
          name,
          "a stop text has at least one character, and %s has an empty one".formatted(name));
    }
  }

  private static void ids(JsonNode value, String name) throws MalformedTurnException {
    require(value.isArray(), value, name, "a list of token ids");
    require(
        value.size() <= MOST_STOPS || !name.equals("stop_token_ids"),
        name,
        "%s has at most %d ids".formatted(name, MOST_STOPS));
    for (JsonNode id : value) {
      require(
          id.isIntegralNumber() && id.canConvertToInt() && id.intValue() >= 0,
          name,
          "%s are ids, and one is %s".formatted(name, JsonFields.excerpt(id.toString())));
    }
  }

  private static void require(boolean right, JsonNode value, String name, String what)
      throws MalformedTurnException {
    require(
        right,
        name,
        "%s is %s, not %s".formatted(name, what, JsonFields.excerpt(value.toString())));
  }

  private static void require(boolean right, String name, String message)
      throws MalformedTurnException {
    if (!right) {
      throw new MalformedTurnException(name, message);
    }
  }
}

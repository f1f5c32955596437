package io.troupe.environments.harbor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The reward that the files of {@code /logs/verifier} hold: {@code reward.json}, a number or an
 * object of numbers whose key {@code reward} is the score and without which their mean is, or
 * {@code reward.txt}, a number. A mean is made of numbers from 0 to 1 alone, because others are
 * measured in units of their own. Anything else is a reward of 0 with its reason: a program that
 * could make the files unreadable could otherwise choose to be sampled again.
 *
 * @param reward any finite number
 * @param reason why it is 0; empty if the tests say so
 */
public record HarborReward(double reward, String reason) {
  /** The reason where neither file is there. */
  public static final String NOT_WRITTEN = "the tests left no reward";

  private static final JsonMapper JSON = new JsonMapper();

  /** Reads the contents of the files, each empty if it is not there. */
  static HarborReward of(Map<String, String> files) {
    String json = files.getOrDefault("reward.json", "").strip();
    String txt = files.getOrDefault("reward.txt", "").strip();
    if (json.isEmpty() && txt.isEmpty()) {
      return zero(NOT_WRITTEN);
    }
    OptionalDouble first = json.isEmpty() ? number(txt) : object(json);
    if (first.isEmpty()) {
      return zero(
          "the reward is no number, and no object with one as reward or with numbers from 0 to 1: "
              + excerpt(json + txt));
    }
    double reward = first.getAsDouble();
    if (!Double.isFinite(reward)) {
      return zero("the reward is a finite number, not " + reward);
    }
    if (!json.isEmpty() && !txt.isEmpty() && number(txt).orElse(Double.NaN) != reward) {
      return zero("reward.json and reward.txt differ");
    }
    return new HarborReward(reward, "");
  }

  private static HarborReward zero(String reason) {
    return new HarborReward(0, reason);
  }

  private static OptionalDouble object(String json) {
    try {
      JsonNode node = JSON.readTree(json);
      if (node.path("reward").isNumber()) {
        return OptionalDouble.of(node.path("reward").asDouble());
      }
      List<JsonNode> values = new ArrayList<>();
      (node.isObject() ? node : JSON.createArrayNode().add(node)).forEach(values::add);
      boolean numbers =
          !node.has("reward")
              && values.stream().allMatch(each -> each.isNumber() && inRange(each.asDouble()));
      return numbers
          ? values.stream().mapToDouble(JsonNode::asDouble).average()
          : values.size() == 1 && values.getFirst().isNumber()
              ? OptionalDouble.of(values.getFirst().asDouble())
              : OptionalDouble.empty();
    } catch (JsonProcessingException broken) {
      return OptionalDouble.empty();
    }
  }

  private static boolean inRange(double value) {
    return value >= 0 && value <= 1;
  }

  private static OptionalDouble number(String text) {
    try {
      return OptionalDouble.of(Double.parseDouble(text));
    } catch (NumberFormatException none) {
      return OptionalDouble.empty();
    }
  }

  private static String excerpt(String text) {
    return text.length() <= 40 ? text : text.substring(0, 40) + "…";
  }
}

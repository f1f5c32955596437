package io.troupe.tasks;

import io.troupe.core.prompt.Prompt;
import io.troupe.tasks.DataSetSettings.Ordering;
import io.troupe.tasks.rows.TaskDataException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Order files: one prompt id a line, from the first prompt to train on to the last. Blank lines are
 * ignored; prompts that are not listed are not trained on.
 */
public final class Curriculum {
  private static final int SHOWN = 10;

  private Curriculum() {}

  /**
   * The ids of an order file's text.
   *
   * @param place of the file, for messages @throws TaskDataException if an id is listed twice or no
   *     id is listed; the message names the lines
   */
  public static List<String> parse(String place, String text) {
    Map<String, Integer> lines = new HashMap<>();
    List<String> ids = new ArrayList<>();
    int number = 0;
    for (String line : text.lines().toList()) {
      number++;
      String id = line.strip();
      if (id.isEmpty()) {
        continue;
      }
      Integer earlier = lines.putIfAbsent(id, number);
      if (earlier != null) {
        throw new TaskDataException(
            "%s:%d: an order file names an id once, but line %d has %s too; remove one of them"
                .formatted(place, number, earlier, id));
      }
      ids.add(id);
    }
    if (ids.isEmpty()) {
      throw new TaskDataException(
          "%s: an order file names an id a line, and this one none".formatted(place));
    }
    return ids;
  }

  /**
   * The prompts that an order file selects, and its ids that select none.
   *
   * @param unmatched listed ids that name no prompt
   * @param heldOut listed ids that name held-out prompts
   */
  record Applied(List<Prompt> prompts, List<String> unmatched, List<String> heldOut) {}

  /**
   * Returns the listed prompts in the order of the list. An id may be written with or without the
   * set's alias. Ids of held-out prompts are ignored: these prompts exist, but not for training.
   *
   * @throws TaskDataException if too many ids name no prompt, or no id names one
   */
  static Applied apply(
      Ordering.Listed order, String alias, List<Prompt> train, List<Prompt> heldOut) {
    Map<String, Prompt> byId = HashMap.newHashMap(train.size());
    train.forEach(prompt -> byId.put(prompt.id().value(), prompt));
    Set<String> others = new HashSet<>();
    heldOut.forEach(prompt -> others.add(prompt.id().value()));
    List<Prompt> prompts = new ArrayList<>();
    List<String> unmatched = new ArrayList<>();
    List<String> passedOver = new ArrayList<>();
    for (String id : order.ids()) {
      String full = alias.isEmpty() || id.startsWith(alias + "/") ? id : alias + "/" + id;
      Prompt prompt = byId.remove(full);
      if (prompt != null) {
        prompts.add(prompt);
      } else if (others.contains(full)) {
        passedOver.add(id);
      } else {
        unmatched.add(id);
      }
    }
    double share = (double) unmatched.size() / order.ids().size();
    if (prompts.isEmpty() || share > order.unmatchedShare()) {
      throw new TaskDataException(
          ("%s: %,d of its %,d ids match no prompt to train on, and at most %s%% may; they begin"
                  + " with %s, and the data set's with %s; correct the file, or raise"
                  + " order_unmatched_share")
              .formatted(
                  order.place(),
                  order.ids().size() - prompts.size(),
                  order.ids().size(),
                  Math.round(order.unmatchedShare() * 1000) / 10.0,
                  unmatched.isEmpty() ? "held-out ones" : shown(unmatched),
                  shown(train.stream().map(prompt -> prompt.id().value()).limit(SHOWN).toList())));
    }
    return new Applied(prompts, unmatched, passedOver);
  }

  private static String shown(List<String> ids) {
    return ids.stream().limit(SHOWN).collect(Collectors.joining(", "))
        + (ids.size() > SHOWN ? ", …" : "");
  }
}

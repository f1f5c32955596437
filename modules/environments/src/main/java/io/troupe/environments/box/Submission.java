package io.troupe.environments.box;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The files that a policy hands in of its box, as data: a box in which it is graded has never run
 * anything of the policy's.
 *
 * @param files that differ from those of the task
 * @param removed paths of files of the task that are gone
 * @param left files that were not taken, and the reasons
 * @param refused why nothing can be graded; empty if it can
 */
public record Submission(
    List<BoxFile> files, List<String> removed, List<String> left, String refused) {
  /** The box is as it was. */
  public static final Submission NOTHING = new Submission(List.of(), List.of(), List.of(), "");

  /** The most bytes that a policy may hand in. */
  public static final int MOST_BYTES = 2 << 20;

  private static final JsonMapper JSON = new JsonMapper();

  public Submission {
    files = List.copyOf(files);
    removed = List.copyOf(removed);
    left = List.copyOf(left);
  }

  /** Returns a submission that cannot be graded. */
  static Submission refused(String why) {
    return new Submission(List.of(), List.of(), List.of(), why);
  }

  /** Returns the submission of a box that began with a task. */
  static Submission of(BoxTask task, JsonNode collected) {
    if (collected.has("refused")) {
      return refused(collected.path("refused").asText());
    }
    Map<String, BoxFile> found = new HashMap<>();
    collected.path("files").forEach(file -> found.put(file.path(0).asText(), BoxFile.of(file)));
    List<String> removed = new ArrayList<>();
    for (BoxFile file : task.contents().files()) {
      BoxFile now = found.get(file.path());
      if (now == null && task.handedIn().stream().anyMatch(root -> below(file.path(), root))) {
        removed.add(file.path());
      } else if (now != null
          && now.executable() == file.executable()
          && Arrays.equals(now.bytes(), file.bytes())) {
        found.remove(file.path());
      }
    }
    return new Submission(List.copyOf(found.values()), removed, texts(collected.path("left")), "");
  }

  /** Reads what {@link #text} has written. */
  public static Submission parse(String text) {
    try {
      JsonNode node = JSON.readTree(text);
      List<BoxFile> files = new ArrayList<>();
      node.path("files").forEach(file -> files.add(BoxFile.of(file)));
      return new Submission(
          files,
          texts(node.path("removed")),
          texts(node.path("left")),
          node.path("refused").asText());
    } catch (JsonProcessingException unreadable) {
      throw new IllegalArgumentException("this is nothing that a box hands in", unreadable);
    }
  }

  /** Whether a path is a root, or lies below it, without a step upwards. */
  public static boolean below(String path, String root) {
    return (path.equals(root) || path.startsWith(root + "/"))
        && Arrays.stream(path.substring(1).split("/", -1))
            .noneMatch(part -> part.isEmpty() || part.equals(".") || part.equals(".."));
  }

  /** Returns one line of JSON. */
  public String text() {
    ObjectNode node = JsonNodeFactory.instance.objectNode();
    ArrayNode bytes = node.putArray("files");
    files.forEach(file -> file.addTo(bytes));
    removed.forEach(node.putArray("removed")::add);
    left.forEach(node.putArray("left")::add);
    return node.put("refused", refused).toString();
  }

  private static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(each -> texts.add(each.asText()));
    return texts;
  }
}

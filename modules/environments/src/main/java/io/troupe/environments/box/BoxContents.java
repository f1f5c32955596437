package io.troupe.environments.box;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.sandbox.SandboxCommand;
import java.util.List;
import java.util.Map;

/**
 * The files of a box before anything runs there.
 *
 * @param folder folder in which sessions begin
 * @param folders that are there, besides those of the files
 * @param variables of the environment of tests
 * @param removed paths of the root that are gone before files are placed
 * @param root root below the files
 */
public record BoxContents(
    String folder,
    List<String> folders,
    List<BoxFile> files,
    Map<String, String> variables,
    List<String> removed,
    BoxRoot root) {
  /** An empty box, whose only folder is {@code /tmp}. */
  public static final BoxContents NONE =
      new BoxContents("/tmp", List.of(), List.of(), Map.of(), List.of(), new BoxRoot.Machine());

  public BoxContents {
    folders = List.copyOf(folders);
    files = List.copyOf(files);
    variables = Map.copyOf(variables);
    removed = List.copyOf(removed);
  }

  boolean isEmpty() {
    return folders.isEmpty() && files.isEmpty();
  }

  ObjectNode order() {
    ObjectNode order =
        JsonNodeFactory.instance.objectNode().put("session", "contents").put("folder", folder);
    ArrayNode mounts = order.putArray("mounts");
    if (!isEmpty()) {
      SandboxCommand.FOLDERS.forEach(mounts::add);
    }
    ArrayNode names = order.putArray("folders");
    folders.forEach(names::add);
    ArrayNode bytes = order.putArray("files");
    files.forEach(file -> file.addTo(bytes));
    ObjectNode environment = order.putObject("environment");
    variables.forEach(environment::put);
    return order;
  }
}

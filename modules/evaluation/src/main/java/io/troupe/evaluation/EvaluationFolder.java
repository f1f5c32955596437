package io.troupe.evaluation;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.files.AtomicFile;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The folder of one evaluation, or of one shard of it: {@code protocol.json} and {@code
 * prompts.jsonl} from the start, {@code completions.jsonl} and {@code results.jsonl} as they grow,
 * and {@code summary.json} once all is done.
 */
public final class EvaluationFolder {
  static final int FORMAT = 1;
  static final String SHARD = "shard";
  private static final String PROTOCOL = "protocol.json";
  private static final String STARTED = "started";

  private final Path path;

  private EvaluationFolder(Path path) {
    this.path = path;
  }

  /** A folder that holds an evaluation. */
  public static EvaluationFolder view(Path path) throws IOException {
    EvaluationFolder folder = new EvaluationFolder(path);
    if (!Files.isRegularFile(folder.protocolFile())) {
      throw new IOException(
          "%s holds no evaluation: it has no %s; name the folder that troupe eval -o wrote"
              .formatted(path, PROTOCOL));
    }
    return folder;
  }

  /**
   * Begins an evaluation in a folder, or continues the one that the folder holds.
   *
   * @param resume whether it may be continued
   * @throws IOException if the folder holds something else, or an evaluation by another protocol;
   *     names what differs
   */
  static EvaluationFolder open(Path path, EvaluationProtocol protocol, boolean resume, Instant now)
      throws IOException {
    EvaluationFolder folder = new EvaluationFolder(path);
    ObjectNode wanted = EvaluationLines.JSON.valueToTree(protocol.toMap());
    if (Files.isRegularFile(folder.protocolFile())) {
      if (!resume) {
        throw new IOException(
            "%s holds an evaluation already; pass --resume to continue it, or name another folder"
                .formatted(path));
      }
      ObjectNode found = folder.protocol();
      found.remove(STARTED);
      Optional<String> difference = difference("", found, reread(wanted));
      if (difference.isPresent()) {
        throw new IOException(
            "%s holds an evaluation by another protocol: %s; resume it with the same settings, or name another folder"
                .formatted(path, difference.get()));
      }
      return folder;
    }
    refuseOtherFiles(path);
    Files.createDirectories(path);
    folder.writePrompts(protocol);
    wanted.put(STARTED, now.toString());
    AtomicFile.replace(folder.protocolFile(), pretty(wanted));
    return folder;
  }

  private static void refuseOtherFiles(Path path) throws IOException {
    if (!Files.isDirectory(path)) {
      return;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(path)) {
      for (Path file : files) {
        String name = String.valueOf(file.getFileName());
        if (!name.equals("prompts.jsonl") && !name.startsWith(".")) {
          throw new IOException(
              "%s is not empty (%s); name a new folder for the evaluation".formatted(path, name));
        }
      }
    }
  }

  /**
   * The protocol is written after the prompts and makes them valid: without it, the next process
   * writes them again. Its rename makes the name of their file durable.
   */
  private void writePrompts(EvaluationProtocol protocol) throws IOException {
    try (FileChannel file =
            FileChannel.open(
                prompts(),
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE);
        JsonGenerator out = EvaluationLines.writer(Channels.newOutputStream(file))) {
      for (EvaluationTask task : protocol.tasks()) {
        EvaluationLines lines = lines(protocol.tasks(), task);
        for (EvaluationItem item : protocol.items(task)) {
          lines.prompt(out, item);
        }
      }
      out.flush();
      file.force(true);
    }
  }

  /** Returns the writer of a task's lines, which name the task where there are others. */
  static EvaluationLines lines(List<EvaluationTask> tasks, EvaluationTask task) {
    return new EvaluationLines(tasks.size() == 1 ? "" : task.name());
  }

  /** Numbers as a reader of the file sees them. */
  private static ObjectNode reread(ObjectNode node) throws JsonProcessingException {
    return (ObjectNode)
        EvaluationLines.JSON.readTree(EvaluationLines.JSON.writeValueAsString(node));
  }

  /** The first field in which two trees differ. */
  static Optional<String> difference(String at, JsonNode one, JsonNode other) {
    if (one.equals(other)) {
      return Optional.empty();
    }
    if (one.isObject() && other.isObject()) {
      TreeSet<String> names = new TreeSet<>();
      one.fieldNames().forEachRemaining(names::add);
      other.fieldNames().forEachRemaining(names::add);
      for (String name : names) {
        Optional<String> within =
            difference(at.isEmpty() ? name : at + "." + name, one.path(name), other.path(name));
        if (within.isPresent()) {
          return within;
        }
      }
    }
    if (one.isArray() && other.isArray() && one.size() == other.size()) {
      for (int i = 0; i < one.size(); i++) {
        Optional<String> within = difference("%s[%d]".formatted(at, i), one.path(i), other.path(i));
        if (within.isPresent()) {
          return within;
        }
      }
    }
    return Optional.of("%s is %s there and %s here".formatted(at, shown(one), shown(other)));
  }

  private static String shown(JsonNode node) {
    return node.isMissingNode() ? "absent" : node.toString();
  }

  static String pretty(JsonNode node) throws JsonProcessingException {
    return EvaluationLines.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(node) + "\n";
  }

  /** The protocol with the time of its start. */
  public ObjectNode protocol() throws IOException {
    JsonNode read = EvaluationLines.JSON.readTree(Files.readAllBytes(protocolFile()));
    if (read instanceof ObjectNode object && object.path("format").asInt() == FORMAT) {
      return object;
    }
    throw new IOException(
        "%s is of another format than %d; evaluate again".formatted(protocolFile(), FORMAT));
  }

  /** Whether all is sampled, judged and summed up. */
  public boolean isComplete() {
    return Files.isRegularFile(summary());
  }

  /** Names of the tasks, in order. */
  static List<String> tasks(JsonNode protocol) {
    List<String> names = new ArrayList<>();
    protocol.path("tasks").forEach(task -> names.add(task.path("task").asText()));
    return names;
  }

  /** A protocol of the same evaluation with other values of top-level fields. */
  static void write(Path path, ObjectNode protocol, Map<String, String> values) throws IOException {
    ObjectNode changed = protocol.deepCopy();
    values.forEach(changed::put);
    AtomicFile.replace(path.resolve(PROTOCOL), pretty(changed));
  }

  public Path path() {
    return path;
  }

  private Path protocolFile() {
    return path.resolve(PROTOCOL);
  }

  Path prompts() {
    return path.resolve("prompts.jsonl");
  }

  public Path completions() {
    return path.resolve("completions.jsonl");
  }

  public Path results() {
    return path.resolve("results.jsonl");
  }

  public Path summary() {
    return path.resolve("summary.json");
  }
}

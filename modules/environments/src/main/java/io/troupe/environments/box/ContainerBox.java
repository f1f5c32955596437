package io.troupe.environments.box;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.environments.EnvironmentFailedException;
import io.troupe.environments.container.Container;
import io.troupe.environments.container.Container.Content;
import io.troupe.environments.container.ContainerException;
import io.troupe.environments.container.ContainerLimits;
import io.troupe.environments.container.ContainerSession;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** A box that is a container of a task's image. */
final class ContainerBox implements Box {
  private final Container container;
  private final BoxSettings settings;
  private final ContainerResults results;
  private final Map<String, ContainerSession> sessions = new ConcurrentHashMap<>();
  private final Map<String, String> nonces = new ConcurrentHashMap<>();
  private BoxContents contents = BoxContents.NONE;

  private ContainerBox(Container container, BoxSettings settings) {
    this.container = container;
    this.settings = settings;
    this.results = new ContainerResults(container, settings);
  }

  /**
   * Starts a container.
   *
   * @throws EnvironmentFailedException if it cannot be started; says why
   */
  static ContainerBox start(BoxRoot.Image root, BoxSettings settings) {
    try {
      long memory = root.memoryBytes() > 0 ? root.memoryBytes() : settings.memoryBytes();
      return new ContainerBox(
          Container.start(
              root.engine(),
              root.image().ensure(root.engine()),
              new ContainerLimits(root.cpus(), memory, settings.processes())),
          settings);
    } catch (IOException failed) {
      throw lost(failed);
    }
  }

  /** Lets the engine have the image. */
  static void prepare(BoxRoot.Image root) {
    try {
      String _ = root.image().ensure(root.engine());
    } catch (IOException failed) {
      throw lost(failed);
    }
  }

  private static EnvironmentFailedException lost(IOException failure) {
    return new EnvironmentFailedException("a container failed: " + failure.getMessage(), failure);
  }

  @Override
  public void fill(BoxContents placed) {
    contents = placed;
    TreeSet<String> folders = new TreeSet<>(placed.folders());
    List<Content> files = new ArrayList<>();
    for (BoxFile file : placed.files()) {
      folders.add(file.path().substring(0, file.path().lastIndexOf('/')));
      files.add(new Content(file.path(), true, file.executable() ? 0755 : 0644, file.bytes()));
    }
    try {
      container.execute(words(List.of("mkdir", "-p", "--"), folders));
      if (!placed.removed().isEmpty()) {
        container.execute(words(List.of("rm", "-rf", "--"), placed.removed()));
      }
      if (!files.isEmpty()) {
        container.place(files);
      }
    } catch (IOException failed) {
      throw lost(failed);
    }
  }

  private static List<String> words(List<String> command, Iterable<String> more) {
    List<String> words = new ArrayList<>(command);
    more.forEach(words::add);
    return words;
  }

  @Override
  public JsonNode carryOut(String session, String text) throws IOException {
    if (session.equals("files")) {
      return files(text);
    }
    try {
      SessionProgram program = SessionProgram.of(session);
      ContainerSession open = sessions.get(session);
      String nonce = nonces.computeIfAbsent(session, _ -> UUID.randomUUID().toString());
      if (open == null) {
        open = container.session(contents.folder(), program.command(nonce), nonce);
        sessions.put(session, open);
      }
      ContainerSession.Reply reply =
          open.carryOut(
              number -> program.order(nonce, number, text),
              settings.timeout(),
              settings.outputBytes());
      return switch (reply.end()) {
        case DONE -> reply(reply.text(), reply.exit(), "");
        case LATE -> late(reply.text());
        case GONE -> gone(session, reply.text());
      };
    } catch (ContainerException failed) {
      throw lost(failed);
    }
  }

  private JsonNode files(String order) throws IOException {
    String[] parts = order.split("\n", 3);
    String path = parts[1].isEmpty() ? "." : parts[1];
    List<String> command =
        switch (parts[0]) {
          case "read_file" -> List.of("cat", "--", path);
          case "write_file" ->
              List.of(
                  "sh",
                  "-c",
                  "mkdir -p -- \"$(dirname -- \"$1\")\" && printf %s \"$2\" >\"$1\"",
                  "sh",
                  path,
                  parts[2]);
          default -> List.of("find", path, "-type", "f");
        };
    try {
      Container.Ended ended =
          container.run(contents.folder(), Map.of(), command, settings.timeout());
      return ended.late()
          ? late("")
          : aliveAfter(reply(settings.shown(ended.output()), ended.exit(), ""), ended.exit());
    } catch (ContainerException failed) {
      throw lost(failed);
    }
  }

  /** A call that fails because its container has ended shows the policy nothing. */
  private JsonNode aliveAfter(JsonNode reply, int exit) throws IOException {
    if (exit != 0) {
      container.requireRunning();
    }
    return reply;
  }

  private JsonNode late(String text) throws IOException {
    closeSessions();
    if (!container.endAll()) {
      container.requireRunning();
      throw new IOException("the processes of a container cannot be ended from inside");
    }
    return reply(
        "%s\n[ended after %s s, with all that ran; files are left]"
            .formatted(text, settings.timeout().toMillis() / 1000.0)
            .strip(),
        1,
        "timeout");
  }

  private JsonNode gone(String session, String text) throws IOException {
    ContainerSession ended = sessions.remove(session);
    if (ended != null) {
      ended.close();
    }
    container.requireRunning();
    return reply((text + "\n[the session ended, and what it kept is gone]").strip(), 1, "");
  }

  private void closeSessions() {
    sessions.values().forEach(ContainerSession::close);
    sessions.clear();
  }

  private static ObjectNode reply(String text, int exit, String cause) {
    return JsonNodeFactory.instance
        .objectNode()
        .put("text", text)
        .put("exit", exit)
        .put("cause", cause);
  }

  @Override
  public Submission submission(BoxTask task) {
    try {
      closeSessions();
      return results.submission(task);
    } catch (IOException failed) {
      throw lost(failed);
    }
  }

  @Override
  public TestBoxes.Graded grade(Duration limit) {
    try {
      return results.grade(contents, limit);
    } catch (IOException failed) {
      throw lost(failed);
    }
  }

  @Override
  public void close() {
    closeSessions();
    container.close();
  }
}

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
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** A box that is a container of a task's image. */
final class ContainerBox implements Box {
  private static final Duration READING = Duration.ofSeconds(60);
  private static final int MOST_REWARD = 1 << 20;
  private static final String REWARDS = "/logs/verifier";
  private static final int LAST_SIGNAL = 64;
  private static final String TESTS =
      "if command -v bash >/dev/null; then exec bash /tests/test.sh; fi; exec sh /tests/test.sh";

  private final Container container;
  private final BoxSettings settings;
  private final Map<String, ContainerSession> sessions = new ConcurrentHashMap<>();
  private final Map<String, String> nonces = new ConcurrentHashMap<>();
  private BoxContents contents = BoxContents.NONE;

  private ContainerBox(Container container, BoxSettings settings) {
    this.container = container;
    this.settings = settings;
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
          : aliveAfter(reply(cut(ended.output()), ended.exit(), ""), ended.exit());
    } catch (ContainerException failed) {
      throw lost(failed);
    }
  }

  /** A call that fails because its container has ended shows the policy nothing. */
  private JsonNode aliveAfter(JsonNode reply, int exit) throws IOException {
    if (exit != 0) {
      requireRunning();
    }
    return reply;
  }

  private void requireRunning() throws IOException {
    if (!container.isRunning()) {
      throw new ContainerException("a container ended, which nothing inside can do to it");
    }
  }

  private String cut(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return bytes.length <= settings.outputBytes()
        ? text.strip()
        : new String(bytes, 0, settings.outputBytes(), StandardCharsets.UTF_8)
            + "\n[%d more bytes are not shown]".formatted(bytes.length - settings.outputBytes());
  }

  private JsonNode late(String text) throws IOException {
    closeSessions();
    if (!container.endAll()) {
      requireRunning();
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
    requireRunning();
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
      requireRunning();
      container.kill();
      Map<String, Character> changed = container.changes().changed();
      Map<String, BoxFile> found = new LinkedHashMap<>();
      List<String> left = new ArrayList<>();
      int room = Submission.MOST_BYTES;
      for (String root : task.handedIn()) {
        if (changed.entrySet().stream()
            .noneMatch(each -> each.getValue() != 'D' && Submission.below(each.getKey(), root))) {
          continue;
        }
        for (Content file :
            container.read(
                root,
                path -> changed.containsKey(path) && !found.containsKey(path),
                room,
                READING)) {
          if (file.regular()) {
            room -= file.bytes().length;
            found.put(
                file.path(), new BoxFile(file.path(), (file.mode() & 0100) != 0, file.bytes()));
          } else {
            left.add(file.path() + " is a link, or no regular file");
          }
        }
      }
      List<String> removed =
          changed.entrySet().stream()
              .filter(each -> each.getValue() == 'D')
              .map(Map.Entry::getKey)
              .filter(path -> task.handedIn().stream().anyMatch(r -> Submission.below(path, r)))
              .sorted()
              .toList();
      return new Submission(List.copyOf(found.values()), removed, left, "");
    } catch (Container.TooLargeException large) {
      return Submission.refused(
          "more than %d bytes were handed in".formatted(Submission.MOST_BYTES));
    } catch (IOException failed) {
      throw lost(failed);
    }
  }

  @Override
  public TestBoxes.Graded grade(Duration limit) {
    try {
      Container.Ended ended =
          container.run(contents.folder(), contents.variables(), List.of("sh", "-c", TESTS), limit);
      requireRunning();
      List<String> faults = new ArrayList<>();
      if (ended.late()) {
        faults.add("the tests took longer than %s s".formatted(limit.toMillis() / 1000.0));
      } else if (ended.exit() > 128 && ended.exit() <= 128 + LAST_SIGNAL) {
        faults.add("signal %d ended the tests".formatted(ended.exit() - 128));
      } else if (container.hasOthers()) {
        faults.add("a process has outlived the program that started it");
      }
      container.kill();
      return new TestBoxes.Graded(faults, rewards(faults), ended.exit(), cut(ended.output()));
    } catch (Container.TooLargeException large) {
      return new TestBoxes.Graded(
          List.of(large.getMessage() + " has more than %d bytes".formatted(MOST_REWARD)),
          Map.of(),
          1,
          "");
    } catch (IOException failed) {
      throw lost(failed);
    }
  }

  private Map<String, String> rewards(List<String> faults) throws IOException {
    Map<String, String> rewards = new HashMap<>();
    if (!container.changes().changed().containsKey(REWARDS)) {
      faults.add(REWARDS + " was replaced, or can no longer be written");
      return rewards;
    }
    Set<String> wanted = Set.of(REWARDS, REWARDS + "/reward.json", REWARDS + "/reward.txt");
    for (Content file : container.read(REWARDS, wanted::contains, MOST_REWARD, READING)) {
      if (file.regular() && (file.mode() & 0200) != 0 && !file.path().equals(REWARDS)) {
        rewards.put(
            file.path().substring(REWARDS.length() + 1),
            new String(file.bytes(), StandardCharsets.UTF_8));
      } else {
        faults.add(file.path() + " is no file that tests can write");
      }
    }
    return rewards;
  }

  @Override
  public void close() {
    closeSessions();
    container.close();
  }
}

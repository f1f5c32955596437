package io.troupe.environments.container;

import io.troupe.base.process.ProcessGroup;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A running container without a network. Its process 1 is {@code cat}, which reads from the call
 * that started it: if this process ends in any way, so does the container, and nothing inside can
 * end it. Files enter and leave as archives that the engine reads and writes from outside.
 */
public final class Container implements AutoCloseable {
  /** Fails if nothing else runs, which is what is wanted. */
  private static final String KILL_ALL = "kill -9 -1 || :";

  private static final int STANDING_LINES_OF_TOP = 2;

  private final ContainerEngine engine;
  private final String name;
  private final ProcessGroup life;

  private Container(ContainerEngine engine, String name, ProcessGroup life) {
    this.engine = engine;
    this.name = name;
    this.life = life;
  }

  /**
   * The paths of a container that its image has not, or has otherwise.
   *
   * @param changed path, and {@code A} or {@code C} or {@code D} for added, changed and deleted
   */
  public record Changes(Map<String, Character> changed) {
    public Changes {
      changed = Map.copyOf(changed);
    }
  }

  /** A file of a container; another kind than a regular file has no bytes. */
  @SuppressWarnings("ArrayRecordComponent") // carried, never compared
  public record Content(String path, boolean regular, int mode, byte[] bytes) {}

  /** More was read than allowed. */
  public static final class TooLargeException extends IOException {
    private static final long serialVersionUID = 1L;

    TooLargeException(String path) {
      super(path);
    }
  }

  /**
   * Starts a container.
   *
   * @param image that the engine has
   * @throws ContainerException if it cannot be started; says why
   */
  public static Container start(ContainerEngine engine, String image, ContainerLimits limits)
      throws IOException {
    String name = ContainerEngine.newName();
    List<String> words = new ArrayList<>(List.of("run", "--interactive", "--name", name));
    words.addAll(ContainerEngine.label());
    words.addAll(List.of("--network", "none", "--pull", "never", "--cap-drop", "ALL"));
    for (String capability : List.of("CHOWN", "DAC_OVERRIDE", "FOWNER")) {
      words.addAll(List.of("--cap-add", capability));
    }
    words.addAll(List.of("--security-opt", "no-new-privileges"));
    words.addAll(limits.options());
    words.addAll(List.of("--entrypoint", "cat", image));
    Container container = new Container(engine, name, engine.start(words, false));
    try {
      container.awaitStart();
      return container;
    } catch (IOException failed) {
      container.close();
      throw failed;
    }
  }

  /** Process 1 echoes a line. */
  private void awaitStart() throws IOException {
    try {
      life.leader().getOutputStream().write('\n');
      life.leader().getOutputStream().flush();
    } catch (IOException ended) {
      // The program's errors say more.
    }
    var first = ContainerEngine.onThread(() -> life.output().read());
    var errors = ContainerEngine.onThread(() -> ContainerEngine.bounded(life.errors()));
    try {
      if (first.get(ContainerEngine.SHORT.toSeconds(), TimeUnit.SECONDS) != '\n') {
        throw new ContainerException(
            "a container cannot be started: "
                + new String(errors.get(1, TimeUnit.SECONDS), StandardCharsets.UTF_8).strip());
      }
    } catch (TimeoutException | ExecutionException silent) {
      throw new ContainerException(
          "a container did not start within %d s".formatted(ContainerEngine.SHORT.toSeconds()));
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new ContainerException("interrupted while a container started");
    }
  }

  /**
   * Asks the engine whether the container runs.
   *
   * @throws ContainerException if it does not
   */
  public void requireRunning() throws IOException {
    String running = engine.call("inspect", "--format", "{{.State.Running}}", name);
    if (!running.strip().equals("true")) {
      throw new ContainerException("a container ended, which nothing inside can do to it");
    }
  }

  /** Runs a program of the image to its end, which must be a success. */
  public void execute(List<String> command) throws IOException {
    List<String> words = new ArrayList<>(List.of("exec", name));
    words.addAll(command);
    engine.call(words, new byte[0], ContainerEngine.SHORT);
  }

  /** The end of a program, with the beginning of its output; the exit is empty if it was late. */
  public record Ended(int exit, String output, boolean late) {}

  /** Runs a program whose end is no failure, however it ends. */
  public Ended run(
      String folder, Map<String, String> variables, List<String> command, Duration limit)
      throws IOException {
    List<String> words = new ArrayList<>(List.of("exec", "--workdir", folder));
    variables.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(each -> words.addAll(List.of("--env", each.getKey() + "=" + each.getValue())));
    words.add(name);
    words.addAll(command);
    try {
      var ran = engine.run(words, new byte[0], limit, ContainerEngine::bounded);
      return new Ended(
          ran.exit(), new String(ran.output(), StandardCharsets.UTF_8) + ran.errors(), false);
    } catch (ContainerException late) {
      return new Ended(1, "", true);
    }
  }

  /** A session of a program of the image. */
  public ContainerSession session(String folder, List<String> command, String nonce)
      throws IOException {
    List<String> words = new ArrayList<>(List.of("exec", "--interactive", "--workdir", folder));
    words.add(name);
    words.addAll(command);
    return new ContainerSession(engine.start(words, true), nonce);
  }

  /** Ends all processes but the first, and returns whether the image's shell could. */
  public boolean endAll() throws IOException {
    var ran =
        engine.run(
            List.of("exec", name, "sh", "-c", KILL_ALL),
            new byte[0],
            ContainerEngine.SHORT,
            ContainerEngine::bounded);
    return ran.exit() == 0;
  }

  /**
   * Whether the container has processes beside process 1, also ended ones that no parent has waited
   * for.
   */
  public boolean hasOthers() throws IOException {
    return engine.call("top", name).lines().filter(line -> !line.isBlank()).count()
        > STANDING_LINES_OF_TOP;
  }

  /** Places files. */
  public void place(List<Content> files) throws IOException {
    ByteArrayOutputStream archive = new ByteArrayOutputStream();
    for (Content file : files) {
      TarStream.add(archive, file.path().substring(1), file.mode(), file.bytes());
    }
    engine.call(List.of("cp", "-", name + ":/"), TarStream.end(archive), ContainerEngine.SHORT);
  }

  /** Ends all processes; the files stay until {@link #close}. */
  public void kill() throws IOException {
    engine.call("kill", name);
  }

  /** Compares the files with those of the image. */
  public Changes changes() throws IOException {
    return engine
        .run(List.of("diff", name), new byte[0], ContainerEngine.SHORT, Container::changes)
        .output();
  }

  private static Changes changes(InputStream output) throws IOException {
    Map<String, Character> changed = new HashMap<>();
    new String(output.readAllBytes(), StandardCharsets.UTF_8)
        .lines()
        .filter(line -> line.length() > 3 && line.startsWith(" /", 1))
        .forEach(line -> changed.put(line.substring(2), line.charAt(0)));
    return new Changes(changed);
  }

  /** Says which paths are read. */
  public interface Wanted {
    /** Whether a path is read. */
    boolean is(String path);
  }

  /**
   * Reads files and what is no file at or below a path. No link is followed.
   *
   * @throws TooLargeException if they have more bytes
   */
  public List<Content> read(String root, Wanted wanted, int mostBytes, Duration limit)
      throws IOException {
    String parent = root.substring(0, root.lastIndexOf('/') + 1);
    var ran =
        engine.run(
            List.of("cp", name + ":" + root, "-"),
            new byte[0],
            limit,
            output -> contents(new TarStream(output), parent, wanted, mostBytes));
    if (ran.exit() != 0) {
      throw new ContainerException(
          "%s of a container cannot be read: %s".formatted(root, ran.errors()));
    }
    return ran.output();
  }

  private static List<Content> contents(
      TarStream archive, String parent, Wanted wanted, int mostBytes) throws IOException {
    List<Content> found = new ArrayList<>();
    long left = mostBytes;
    TarStream.Entry entry = archive.next();
    while (!entry.equals(TarStream.Entry.END)) {
      String path = parent + entry.name();
      boolean regular = entry.type() == '0';
      if (entry.type() != '5' && wanted.is(path)) {
        left -= regular ? entry.size() : 0;
        if (left < 0) {
          throw new TooLargeException(path);
        }
        byte[] bytes = regular ? archive.content(entry.size()) : new byte[0];
        found.add(new Content(path, regular, entry.mode(), bytes));
      }
      entry = archive.next();
    }
    return found;
  }

  @Override
  public void close() {
    try {
      engine.call("rm", "--force", name);
    } catch (IOException away) {
      // The next process removes it: it has ended, because its input ends here.
    } finally {
      life.close();
    }
  }
}

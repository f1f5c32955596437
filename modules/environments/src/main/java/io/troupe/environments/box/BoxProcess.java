package io.troupe.environments.box;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.failure.Causes;
import io.troupe.base.process.SearchPath;
import io.troupe.base.sandbox.SandboxChild;
import io.troupe.base.sandbox.SandboxCommand;
import io.troupe.base.sandbox.SandboxDiagnosis;
import io.troupe.base.sandbox.SandboxPython;
import io.troupe.base.sandbox.SandboxSource;
import io.troupe.base.sandbox.SandboxUids;
import io.troupe.base.sandbox.SandboxUnavailableException;
import io.troupe.environments.EnvironmentFailedException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** The sandbox of one episode. Every exchange with it ends: at the deadline it is killed. */
final class BoxProcess implements Box {
  /** Time beyond a call's limit: the sandbox keeps the limit, and this bounds one that does not. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  private static final Duration START = Duration.ofSeconds(30);
  private static final int LARGEST_REPLY = 16 << 20;

  /**
   * A process's limit of CPU time: none computes between calls, and each call has its own limit.
   */
  private static final int CPU_SECONDS = 3600;

  /** Boxes have user ids apart from those of code verifiers, which count from 0. */
  private static final int FIRST_UID = SandboxUids.MOST_WORKERS / 2;

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  private final SandboxChild child;
  private final BoxSettings settings;

  private BoxProcess(SandboxChild child, BoxSettings settings) {
    this.child = child;
    this.settings = settings;
  }

  /**
   * Starts a sandbox; the calling thread must live as long.
   *
   * @throws EnvironmentFailedException if this machine cannot; says why
   */
  static BoxProcess start(BoxSettings settings, int ordinal) {
    try {
      if (SearchPath.find("bwrap").isEmpty()) {
        throw new SandboxUnavailableException(SandboxDiagnosis.NO_BUBBLEWRAP);
      }
      SandboxChild child =
          SandboxChild.start(
              SandboxCommand.of(
                  true,
                  SandboxPython.find(settings.python()),
                  SandboxUids.of(FIRST_UID + ordinal % FIRST_UID)),
              true);
      BoxProcess box = new BoxProcess(child, settings);
      box.introduce();
      return box;
    } catch (SandboxUnavailableException unavailable) {
      throw new EnvironmentFailedException(Causes.message(unavailable), unavailable);
    } catch (IOException broken) {
      throw new EnvironmentFailedException("a sandbox cannot be started", broken);
    }
  }

  private void introduce() throws SandboxUnavailableException {
    ObjectNode introduction = JsonNodeFactory.instance.objectNode();
    introduction
        .putObject("settings")
        .put("isolated", true)
        .put("memory_bytes", settings.memoryBytes())
        .put("file_bytes", settings.fileBytes())
        .put("processes", settings.processes())
        .put("cpu_seconds", CPU_SECONDS)
        .set("contents", BoxContents.NONE.order());
    ArrayNode sources = introduction.putArray("sources");
    Stream.concat(
            SandboxSource.walls().stream(),
            Stream.of("box.py", "task.py", "sessions.py")
                .map(name -> SandboxSource.of(BoxProcess.class, name)))
        .forEach(source -> sources.addArray().add(source.name()).add(source.text()));
    JsonNode ready;
    try {
      ready = exchange(introduction, START);
    } catch (IOException ended) {
      throw new SandboxUnavailableException(
          SandboxDiagnosis.of(child.errorTail(), SandboxDiagnosis::kernelSetting));
    }
    if (!ready.path("filtered").asBoolean()) {
      child.close();
      throw new SandboxUnavailableException(
          "the sandbox has no filter of system calls for this processor (%s); there is one for x86-64 and ARM64"
              .formatted(System.getProperty("os.arch")));
    }
  }

  @Override
  public void fill(BoxContents contents) throws IOException {
    exchange(contents.order(), START);
  }

  @Override
  public JsonNode carryOut(String session, String text) throws IOException {
    return carryOut(session, text, settings.timeout(), settings.outputBytes());
  }

  private JsonNode carryOut(String session, String text, Duration limit, int outputBytes)
      throws IOException {
    return exchange(
        JsonNodeFactory.instance
            .objectNode()
            .put("session", session)
            .put("text", text)
            .put("seconds", limit.toNanos() / 1e9)
            .put("output_bytes", outputBytes),
        limit.plus(GRACE));
  }

  @Override
  public Submission submission(BoxTask task) throws IOException {
    ObjectNode order =
        JsonNodeFactory.instance
            .objectNode()
            .put("session", "collect")
            .put("seconds", START.toSeconds())
            .put("most_bytes", Submission.MOST_BYTES);
    task.handedIn().forEach(order.putArray("roots")::add);
    JsonNode collected = exchange(order, START.plus(GRACE));
    if (collected.has("cause")) {
      throw new IOException("the sandbox ended: " + collected.path("cause").asText());
    }
    return Submission.of(task, collected);
  }

  @Override
  public TestBoxes.Graded grade(Duration limit) throws IOException {
    return TestBoxes.graded(carryOut("grade", "", limit, settings.outputBytes()));
  }

  private JsonNode exchange(ObjectNode message, Duration limit) throws IOException {
    CompletableFuture<Void> watchdog = new CompletableFuture<>();
    var _ =
        watchdog
            .orTimeout(limit.toMillis(), TimeUnit.MILLISECONDS)
            .whenComplete(
                (_, late) -> {
                  if (late != null) {
                    child.close();
                  }
                });
    try {
      child.write(JSON.writeValueAsBytes(message));
      child.flush();
      return JSON.readTree(child.read(LARGEST_REPLY));
    } finally {
      watchdog.complete(null);
    }
  }

  long pid() {
    return child.pid();
  }

  @Override
  public void close() {
    child.close();
  }
}

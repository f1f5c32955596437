package io.troupe.verifiers.code;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.troupe.base.sandbox.SandboxChild;
import io.troupe.base.sandbox.SandboxSource;
import io.troupe.verifiers.code.SandboxResult.TestResult;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The process of one sandbox; it judges one job at a time.
 *
 * <p>Every exchange with the process ends: at the deadline the process is killed, its namespace
 * ends with it, and reads from it end.
 */
final class SandboxProcess implements AutoCloseable {
  /**
   * Time beyond a program's limit: the sandbox enforces the limit itself, and this bounds a sandbox
   * that does not.
   */
  private static final Duration GRACE = Duration.ofSeconds(10);

  private static final Duration START = Duration.ofSeconds(30);
  private static final int LARGEST_REPLY = 256 << 20;
  private static final List<String> SOURCES =
      List.of("wire.py", "program.py", "judge.py", "server.py");

  /** ASCII output, so that every text can be encoded, even an unpaired surrogate. */
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();

  private final SandboxChild child;
  private final SandboxSettings settings;
  private final ScheduledExecutorService watchdog;
  private long jobs;
  private boolean filtered;
  private boolean spent;

  private SandboxProcess(
      SandboxChild child, SandboxSettings settings, ScheduledExecutorService watchdog) {
    this.child = child;
    this.settings = settings;
    this.watchdog = watchdog;
  }

  /**
   * Starts a sandbox and waits until it is ready.
   *
   * <p>The calling thread must live as long as the sandbox: Linux kills the sandbox when the thread
   * that started it ends, not when the Java process ends.
   *
   * @throws IOException with the output of the process, if it ends instead
   */
  static SandboxProcess start(
      List<String> command, SandboxSettings settings, ScheduledExecutorService watchdog)
      throws IOException {
    SandboxChild child = SandboxChild.start(command, settings.isolation().namespaces());
    SandboxProcess server = new SandboxProcess(child, settings, watchdog);
    ScheduledFuture<?> deadline = server.killAfter(START);
    try {
      server.write(server.introduction());
      server.child.flush();
      server.filtered = server.read().path("filtered").asBoolean();
      return server;
    } catch (IOException e) {
      server.close();
      throw new IOException(server.child.errorTail(), e);
    } finally {
      deadline.cancel(false);
    }
  }

  private static List<SandboxSource> sources() {
    return Stream.concat(
            SandboxSource.walls().stream(),
            SOURCES.stream().map(name -> SandboxSource.of(SandboxProcess.class, name)))
        .toList();
  }

  private ObjectNode introduction() {
    ObjectNode json = JsonNodeFactory.instance.objectNode();
    json.putObject("settings")
        .put("isolated", settings.isolation().namespaces())
        .put("memory_bytes", settings.limits().memoryBytes())
        .put("file_bytes", settings.limits().fileBytes())
        .put("processes", settings.limits().processes())
        .put("cpu_seconds", settings.limits().wall().toSeconds() + 1);
    var sources = json.putArray("sources");
    for (SandboxSource source : sources()) {
      sources.addArray().add(source.name()).add(source.text());
    }
    return json;
  }

  /** Runs a job. Afterwards {@link #isAlive} says whether another job can follow. */
  SandboxResult run(SandboxJob job) {
    String nonce = Long.toString(jobs++);
    ScheduledFuture<?> deadline = killAfter(settings.limits().wall().plus(GRACE));
    try {
      write(
          JsonNodeFactory.instance
              .objectNode()
              .put("nonce", nonce)
              .put("seconds", settings.limits().wall().toNanos() / 1e9)
              .put("await_exit", job instanceof SandboxJob.RunJob));
      write(job.json(settings.limits().outputBytes()));
      child.flush();
      JsonNode reply = read();
      if (!reply.path("nonce").asText().equals(nonce)) {
        throw new IOException("an answer to another job");
      }
      return result(reply);
    } catch (IOException | IllegalArgumentException e) {
      close();
      return new SandboxResult.Failed(
          "the sandbox failed: %s %s".formatted(e.getMessage(), child.errorTail()));
    } finally {
      deadline.cancel(false);
    }
  }

  private SandboxResult result(JsonNode reply) throws IOException {
    ProgramExit ending = ending(reply);
    if (!reply.required("judged").asBoolean()) {
      spent = true;
      return switch (ending) {
        case ProgramExit.OutOfTime _, ProgramExit.OutOfMemory _ -> new SandboxResult.Ended(ending);
        case ProgramExit.Answered _, ProgramExit.Exited _ ->
            new SandboxResult.Failed("the judge of the tests ended before it reported");
      };
    }
    JsonNode report = JSON.readTree(reply.required("report").asText());
    if (report.has("bad")) {
      return new SandboxResult.BadProblem(report.get("bad").asText());
    }
    if (report.has("output")) {
      return new SandboxResult.Ran(
          report.get("output").asText(),
          report.required("flood").asBoolean(),
          report.required("raised").asText(),
          ending);
    }
    List<TestResult> tests = new ArrayList<>();
    for (JsonNode test : report.required("tests")) {
      tests.add(new TestResult(test.get(0).asBoolean(), test.get(1).asText()));
    }
    return new SandboxResult.Judged(tests, ending);
  }

  private static ProgramExit ending(JsonNode reply) {
    return switch (reply.path("cause").asText("")) {
      case "timeout" -> new ProgramExit.OutOfTime();
      case "memory" -> new ProgramExit.OutOfMemory();
      default ->
          reply.hasNonNull("exit")
              ? new ProgramExit.Exited(reply.get("exit").asInt())
              : new ProgramExit.Answered();
    };
  }

  private void write(JsonNode json) throws IOException {
    byte[] bytes;
    try {
      bytes = JSON.writeValueAsBytes(json);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
    child.write(bytes);
  }

  private JsonNode read() throws IOException {
    return JSON.readTree(child.read(LARGEST_REPLY));
  }

  private ScheduledFuture<?> killAfter(Duration time) {
    return watchdog.schedule(this::close, time.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Whether the sandbox has a filter of system calls for this CPU. */
  boolean filtered() {
    return filtered;
  }

  /** Whether another job can follow. */
  boolean isAlive() {
    return !spent && child.isAlive();
  }

  long pid() {
    return child.pid();
  }

  /** Kills the process and every process in the sandbox. */
  @Override
  public void close() {
    child.close();
  }
}

package io.troupe.verifiers.code;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonSerializable;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.jsontype.TypeSerializer;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.POJONode;
import io.troupe.base.sandbox.SandboxDiagnosis;
import io.troupe.base.sandbox.SandboxUnavailableException;
import io.troupe.core.reward.Verdict;
import io.troupe.verifiers.code.SandboxSettings.SandboxIsolation;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SandboxTest {
  private static final String RIGHT = "def f(x): return x";

  @Test
  void close_workers_areGone() throws Exception {
    Sandbox sandbox = Sandbox.open(SandboxSettings.standard().withWorkers(1));
    Set<Long> pids = sandbox.pids();
    assertThat(pids).hasSize(1);
    CompletableFuture<ProcessHandle> end =
        ProcessHandle.of(pids.iterator().next()).orElseThrow().onExit();
    sandbox.close();
    end.get(60, TimeUnit.SECONDS);
    assertThat(verdict(sandbox)).isInstanceOf(Verdict.Unverifiable.class);
  }

  @Test
  void run_workerKilled_isUnverifiableOnceAndReplaced() throws Exception {
    try (Sandbox sandbox = Sandbox.open(SandboxSettings.standard().withWorkers(1))) {
      ProcessHandle worker = ProcessHandle.of(sandbox.pids().iterator().next()).orElseThrow();
      worker.destroyForcibly();
      worker.onExit().get(60, TimeUnit.SECONDS);
      assertThat(verdict(sandbox))
          .isInstanceOfSatisfying(
              Verdict.Unverifiable.class,
              u -> assertThat(u.cause()).isEqualTo(Verdict.Cause.CRASH));
      assertThat(verdict(sandbox)).isInstanceOf(Verdict.Scored.class);
      assertThat(sandbox.counts().restarts()).isEqualTo(1);
    }
  }

  @Test
  void run_failureOfOurOwn_losesNoWorker() throws Exception {
    try (Sandbox sandbox = Sandbox.open(SandboxSettings.standard().withWorkers(1))) {
      for (Throwable failure : List.of(new OutOfMemoryError("heap"), new IOException("broken"))) {
        var calls = List.of(new CodeProblem.CallTests.Call(arguments(failure), IntNode.valueOf(1)));
        var job = new SandboxJob.CallsJob(RIGHT, new CodeProblem.CallTests("f", calls));
        assertThatThrownBy(() -> sandbox.run(job)).hasStackTraceContaining(failure.getMessage());
        assertThat(verdict(sandbox)).isInstanceOf(Verdict.Scored.class);
      }
      assertThat(sandbox.counts().restarts()).isEqualTo(2);
    }
  }

  /** Returns an argument that fails in the middle of being written to the sandbox. */
  private static ArrayNode arguments(Throwable failure) {
    return JsonNodeFactory.instance
        .arrayNode()
        .add(
            new POJONode(
                new JsonSerializable.Base() {
                  @Override
                  public void serialize(JsonGenerator json, SerializerProvider provider)
                      throws IOException {
                    switch (failure) {
                      case IOException broken -> throw broken;
                      case Error error -> throw error;
                      default -> throw new IllegalArgumentException(failure);
                    }
                  }

                  @Override
                  public void serializeWithType(
                      JsonGenerator json, SerializerProvider provider, TypeSerializer type) {}
                }));
  }

  @Test
  void open_noPython_namesIt() {
    assertThatThrownBy(
            () -> Sandbox.open(SandboxSettings.standard().withPython(Path.of("/no/python"))))
        .isInstanceOf(SandboxUnavailableException.class)
        .hasMessageContaining("there is no /no/python");
  }

  @Test
  void open_unsandboxedByWish_judgesAndEndsRunaways() throws Exception {
    SandboxSettings settings =
        SandboxSettings.standard()
            .withWorkers(1)
            .withIsolation(SandboxIsolation.NONE)
            .withWall(Duration.ofSeconds(4), Duration.ofSeconds(4));
    try (Sandbox sandbox = Sandbox.open(settings)) {
      CodeVerifier verifier = new CodeVerifier(CodeProfile.mbpp(), sandbox);
      var prompt = CodePrompts.asserts("assert f(1) == 1");
      String runaway = "import os\nos.fork()\nos.setsid() if os.fork() else 0\nwhile True: pass";
      assertThat(((Verdict.Scored) verifier.verify(prompt, runaway)).reward()).isEqualTo(0.0);
      assertThat(((Verdict.Scored) verifier.verify(prompt, RIGHT)).reward()).isEqualTo(1.0);
    }
  }

  /** The message of a sandbox on a processor that its filter is not written for. */
  @Test
  void open_noFilterForTheProcessor_isRefusedUnlessAllowed(@TempDir Path folder) throws Exception {
    Path python = unfilteredPython(folder);
    SandboxSettings strict = SandboxSettings.standard().withWorkers(1).withPython(python);
    assertThatThrownBy(() -> Sandbox.open(strict))
        .isInstanceOf(SandboxUnavailableException.class)
        .hasMessageMatching(
            "the sandbox has no filter of system calls for this processor \\(\\w+\\);.*"
                + "allow_unfiltered=true judges with namespaces alone");
    try (Sandbox sandbox =
        Sandbox.open(strict.withIsolation(SandboxIsolation.BUBBLEWRAP_MAYBE_UNFILTERED))) {
      assertThat(sandbox.counts().idle()).isEqualTo(1);
    }
  }

  /** The message of a sandbox where the kernel lets no process go behind a filter. */
  @Test
  void open_noProgramCanBeJudged_isRefusedAtTheStart(@TempDir Path folder) throws Exception {
    Path python =
        fakePython(folder, true, "{\"judged\":false,\"report\":\"\",\"exit\":1,\"nonce\":\"0\"}");
    SandboxSettings settings = SandboxSettings.standard().withWorkers(1).withPython(python);
    assertThatThrownBy(() -> Sandbox.open(settings))
        .isInstanceOf(SandboxUnavailableException.class)
        .hasMessageContaining("the judge of the tests ended before it reported")
        .hasMessageContaining("allow_unsandboxed=true judges without a sandbox");
  }

  @Test
  void ofProbe_kernelWithoutFilters_isToldFromOtherReasons() {
    assertThat(SandboxDiagnosis.ofProbe("why", _ -> ""))
        .startsWith("this kernel has no filters of system calls (CONFIG_SECCOMP_FILTER)")
        .contains("boot one that has (why). On a machine that may be thrown away");
    assertThat(SandboxDiagnosis.ofProbe("why", _ -> "kill_process trap errno allow"))
        .startsWith("the sandbox starts, and cannot judge a program of one line; look for");
  }

  private static Path unfilteredPython(Path folder) throws IOException {
    return fakePython(
        folder,
        false,
        """
        {"nonce":"0","judged":true,"exit":0,\
        "report":"{\\"output\\":\\"42\\",\\"flood\\":false,\\"raised\\":\\"\\"}"}\
        """);
  }

  /** An interpreter that gives one answer to whatever it is to judge. */
  private static Path fakePython(Path folder, boolean filtered, String answer) throws IOException {
    Path bin = Files.createDirectory(folder.resolve("bin"));
    Path python = bin.resolve("python");
    Path frames = bin.resolve("frames");
    try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(frames))) {
      for (String frame :
          List.of("{\"ready\":\"3.11.0\",\"filtered\":%s}".formatted(filtered), answer)) {
        byte[] bytes = frame.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
      }
    }
    Files.writeString(
        python,
        """
        #!/bin/sh
        case "$1" in -I) echo "True $0"; exit ;; esac
        cat "${0%/*}/frames"
        exec cat > /dev/null
        """);
    // The sandbox's user is another one.
    for (Path part : List.of(folder, bin, python, frames)) {
      Files.setPosixFilePermissions(part, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
    return python;
  }

  @Test
  void of_reasonsWhyNamespacesFail_areToldApart() {
    String refused = "bwrap: setting up uid map: Permission denied";
    assertThat(diagnosis(refused, "sys/kernel/apparmor_restrict_unprivileged_userns", "1\n"))
        .startsWith("AppArmor forbids user namespaces");
    assertThat(diagnosis(refused, "sys/user/max_user_namespaces", "0\n"))
        .startsWith("the kernel allows no user namespaces");
    assertThat(diagnosis(refused, "self/status", "Name:\tjava\nSeccomp:\t2\n"))
        .startsWith("a seccomp filter, usually the container's, forbids namespaces");
    assertThat(diagnosis("No module named '_ctypes'", "", ""))
        .startsWith("the Python of the sandbox lacks a standard module");
  }

  private static String diagnosis(String output, String file, String content) {
    return SandboxDiagnosis.of(output, asked -> asked.equals(file) ? content : "");
  }

  private static Verdict verdict(Sandbox sandbox) {
    return new CodeVerifier(CodeProfile.mbpp(), sandbox)
        .verify(CodePrompts.asserts("assert f(1) == 1"), RIGHT);
  }
}

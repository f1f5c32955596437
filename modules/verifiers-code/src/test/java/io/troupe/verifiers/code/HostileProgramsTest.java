package io.troupe.verifiers.code;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.base.sandbox.SandboxUnavailableException;
import io.troupe.core.reward.Verdict;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Programs that want the reward without the work, or harm: each scores 0, and the next one 1. */
final class HostileProgramsTest {
  private static final String HONEST = "def f(x):\n    return x + 1\n";

  /** Programs that end at the deadline alone; the others have one that no slow machine meets. */
  private static final Set<String> ENDLESS =
      Set.of(
          "deleted files",
          "fork bomb",
          "stubborn fork bomb",
          "memory bomb of many processes",
          "endless loop",
          "endless loop in the call",
          "sleeper",
          "thread bomb",
          "output flood",
          "ignored signals",
          "endless value");

  private static Sandbox sandbox;
  private static Sandbox impatient;

  @BeforeAll
  static void open() throws SandboxUnavailableException {
    sandbox = open(Duration.ofSeconds(60));
    impatient = open(Duration.ofSeconds(3));
  }

  private static Sandbox open(Duration wall) throws SandboxUnavailableException {
    return Sandbox.open(
        SandboxSettings.standard()
            .withWorkers(1)
            .withMemory(256L << 20)
            .withWall(wall, wall.multipliedBy(2)));
  }

  @AfterAll
  static void close() {
    sandbox.close();
    impatient.close();
  }

  static Stream<String> attacks() {
    return programs().keySet().stream();
  }

  @ParameterizedTest
  @MethodSource("attacks")
  void verify_hostileProgram_scoresZeroAndHarmsNothing(String attack) {
    Sandbox within = ENDLESS.contains(attack) ? impatient : sandbox;
    assertThat(reward(within, programs().getOrDefault(attack, ""))).isEqualTo(0.0);
    assertThat(reward(within, HONEST)).as("the next program").isEqualTo(1.0);
  }

  @Test
  void verify_sleepingDaemon_isGoneBeforeTheNextProgram() {
    String daemon =
        """
        import os, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(1000)
            os._exit(0)
        def f(x):
            return x + 1
        """;
    String census =
        """
        import os
        def f(x):
            found = 0
            for process in range(2, 400):
                try:
                    os.kill(process, 0)
                    found += 1
                except ProcessLookupError:
                    pass
            return x + 1 + found
        """;
    assertThat(reward(daemon)).isEqualTo(1.0);
    assertThat(reward(census)).isEqualTo(1.0);
  }

  @Test
  void verify_fileOfEarlierProgram_isNotThere() {
    assertThat(reward("open('/tmp/note', 'w').write('5')\n" + HONEST)).isEqualTo(1.0);
    assertThat(
            reward("import os\ndef f(x):\n    return x + 1 if os.listdir('/tmp') == [] else 0\n"))
        .isEqualTo(1.0);
  }

  /** A netlink socket opens without any right; AF_VSOCK (40) reaches the host of a machine. */
  @Test
  void verify_socketsOfAllFamilies_onlyThoseOfItsOwnNetworkOpen() {
    String program =
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        def opened(call, family, *more):
            end = call(ctypes.c_long(family), *more)
            return 0 if end >= 0 else ctypes.get_errno()
        def f(wide):
            pair = (ctypes.c_int * 2)()
            def errors(family):
                return {opened(libc.socket, family, kind, 0) for kind in (1, 2, 3)} | {
                    opened(libc.socketpair, family, kind, 0, pair) for kind in (1, 2)}
            families = range(1, 64)
            return [n for n in families if errors(n + wide) != {97}]
        """;
    Verdict verdict =
        new CodeVerifier(CodeProfile.mbpp(), sandbox)
            .verify(
                CodePrompts.asserts("assert f(0) == [1, 2, 10]", "assert f(1 << 32) == [1, 2, 10]"),
                program);
    assertThat(((Verdict.Scored) verdict).reason()).isEqualTo("2 of 2 tests passed");
  }

  @Test
  void verify_wholeProgramThatFloods_scoresZero() {
    CodeVerifier verifier = new CodeVerifier(CodeProfile.apps(), sandbox);
    Verdict verdict =
        verifier.verify(CodePrompts.runs("1\n", "2"), "while True:\n    print('2' * 1000)\n");
    assertThat(verdict).isInstanceOf(Verdict.Scored.class);
    assertThat(((Verdict.Scored) verdict).reward()).isEqualTo(0.0);
    assertThat(((Verdict.Scored) verdict).reason()).contains("bytes of output");
  }

  private static double reward(String program) {
    return reward(sandbox, program);
  }

  private static double reward(Sandbox within, String program) {
    Verdict verdict =
        new CodeVerifier(CodeProfile.mbpp(), within)
            .verify(
                CodePrompts.asserts(
                    "assert f(1) == 2", "assert f(41) == 42", "assert set([f(0)]) == {1}"),
                program);
    assertThat(verdict).as("judged").isInstanceOf(Verdict.Scored.class);
    return ((Verdict.Scored) verdict).reward();
  }

  private static Map<String, String> programs() {
    Map<String, String> programs = new LinkedHashMap<>();
    programs.put("nothing", "pass");
    programs.put("exit", "import sys\nsys.exit(0)");
    programs.put("hard exit", "import os\nos._exit(0)");
    programs.put("exit in the call", "import os\ndef f(x):\n    os._exit(0)");
    programs.put("exit at exit", "import atexit, os\natexit.register(os._exit, 0)\ndef f(x): 1");
    programs.put("printed markers", "print('{\"tests\": [[true, \"\"]]}\\nOK\\nPASSED')");
    programs.put(
        "equal to everything",
        """
        class Same:
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            def __hash__(self): return 2
            def __bool__(self): return True
        def f(x): return Same()
        """);
    programs.put(
        "number equal to everything",
        """
        class Same(int):
            def __eq__(self, other): return True
            def __hash__(self): return 1
        def f(x): return Same(7)
        """);
    programs.put(
        "list equal to everything",
        """
        class Same(list):
            def __eq__(self, other): return True
        def f(x): return Same([7])
        """);
    programs.put(
        "patched builtins",
        """
        import builtins
        builtins.set = lambda x=(): {1}
        builtins.AssertionError = KeyboardInterrupt
        builtins.isinstance = lambda *a: True
        builtins.compile = builtins.exec = lambda *a, **k: None
        def f(x): return None
        """);
    programs.put(
        "own set and len", "def set(x): return {1}\ndef len(x): return 1\ndef f(x): return 3");
    programs.put(
        "walked frames",
        """
        import sys
        def f(x):
            frame = sys._getframe()
            while frame:
                for name, value in list(frame.f_locals.items()):
                    if name in ('trouble', 'result', 'tests', 'passed'):
                        frame.f_locals[name] = True
                frame = frame.f_back
            return None
        """);
    programs.put(
        "searched memory",
        """
        import gc
        def f(x):
            for thing in gc.get_objects():
                if isinstance(thing, dict) and 'tests' in thing:
                    return eval(thing['tests'][0 if x == 1 else 1].split('==')[1])
            return None
        """);
    programs.put(
        "replaced modules",
        """
        import sys
        for name in list(sys.modules):
            if name in ('json', 'ast', 'struct', 'sandbox'):
                sys.modules[name] = None
        import json
        """);
    programs.put(
        "patched JSON of its own side",
        """
        import json
        json.dumps = lambda *a, **k: '{"value": true}'
        def f(x): return None
        """);
    programs.put(
        "traced",
        """
        import sys
        sys.settrace(lambda *a: None)
        sys.setprofile(lambda *a: None)
        def f(x): return 0
        """);
    programs.put(
        "wrote into all descriptors",
        """
        import os
        for number in range(3, 300):
            try:
                os.write(number, b'\\x00\\x00\\x00\\x10{"value":  true}' * 10)
            except OSError:
                pass
        def f(x): return None
        """);
    programs.put(
        "closed all descriptors", "import os\nos.closerange(0, 4096)\ndef f(x): return x + 1");
    programs.put(
        "signalled everybody",
        """
        import os, signal
        for process in [1, -1, 2, 3, 4, os.getppid()] + list(range(5, 50)):
            for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
                try:
                    os.kill(process, number)
                except OSError:
                    pass
        def f(x): return None
        """);
    programs.put(
        "traced other processes",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        results = [libc.ptrace(16, process, 0, 0) for process in range(1, 50)]
        def f(x): return x + 1 if any(result == 0 for result in results) else None
        """);
    programs.put(
        "memory of other processes",
        """
        def f(x):
            for process in range(1, 50):
                try:
                    open('/proc/%d/mem' % process, 'rb+')
                    return x + 1
                except OSError:
                    pass
        """);
    programs.put(
        "new namespaces",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        def f(x): return x + 1 if libc.unshare(0x10000000) == 0 or libc.mount(b'none', b'/tmp', b'tmpfs', 0, None) == 0 else None
        """);
    programs.put(
        "capabilities",
        """
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        def f(x): return x + 1 if libc.umount2(b'/tmp', 2) == 0 or libc.sethostname(b'x', 1) == 0 else None
        """);
    programs.put(
        "network",
        """
        import socket
        def f(x):
            socket.create_connection(('1.1.1.1', 53), 1)
            return x + 1
        """);
    programs.put(
        "files of the host", "def f(x):\n    open('/etc/passwd').read()\n    return x + 1");
    programs.put(
        "environment of the host",
        """
        import os
        ours = {'HOME', 'PATH', 'PYTHONHASHSEED', 'PWD', 'LC_CTYPE'}
        def f(x): return x + 1 if set(os.environ) - ours else None
        """);
    programs.put(
        "wrote system files",
        "def f(x):\n    open('/usr/bin/python3', 'w').write('')\n    return x + 1");
    programs.put(
        "deleted files",
        """
        import shutil
        shutil.rmtree('/', ignore_errors=True)
        def f(x): return None
        """);
    programs.put(
        "a gigabyte on disk",
        """
        def f(x):
            for i in range(16):
                with open('/tmp/%d' % i, 'wb') as out:
                    for _ in range(64):
                        out.write(bytes(1 << 20))
            return x + 1
        """);
    programs.put("fork bomb", "import os\nwhile True:\n    os.fork()");
    programs.put(
        "stubborn fork bomb",
        """
        import os
        while True:
            try:
                os.fork()
            except OSError:
                pass
        """);
    programs.put(
        "thread bomb",
        """
        import threading, time
        def f(x):
            for _ in range(1000):
                threading.Thread(target=time.sleep, args=(9,)).start()
            return x + 1
        """);
    programs.put("memory bomb", "def f(x):\n    bytearray(1 << 31)\n    return x + 1");
    programs.put(
        "memory bomb of many processes",
        """
        import os, time
        for _ in range(3):
            os.fork()
        held = bytearray(100 << 20)
        for i in range(0, len(held), 4096):
            held[i] = 1
        time.sleep(60)
        def f(x): return x + 1
        """);
    programs.put("endless loop", "while True:\n    pass");
    programs.put("endless loop in the call", "def f(x):\n    while True:\n        pass");
    programs.put("sleeper", "import time\ntime.sleep(1000)");
    programs.put(
        "ignored signals",
        """
        import signal
        for number in range(1, 65):
            try:
                signal.signal(number, signal.SIG_IGN)
            except (OSError, ValueError):
                pass
        while True:
            pass
        """);
    programs.put("output flood", "while True:\n    print('x' * 100000)");
    programs.put("endless recursion", "def f(x):\n    return f(x)");
    programs.put("segmentation fault", "import ctypes\ndef f(x):\n    ctypes.string_at(0)");
    programs.put("huge value", "def f(x):\n    return 'x' * (60 << 20)");
    programs.put(
        "deep value",
        """
        def f(x):
            value = []
            for _ in range(100000):
                value = [value]
            return value
        """);
    programs.put(
        "cyclic value",
        """
        def f(x):
            value = []
            value.append(value)
            return value
        """);
    programs.put("endless value", "import itertools\ndef f(x):\n    return itertools.count()");
    programs.put("nested text", "f = " + "(".repeat(100_000));
    programs.put("NUL", "def f(x):\n    return x + 1\n\0");
    programs.put("lone surrogate", "def f(x):\n    return '\ud800'\n");
    return programs;
  }
}

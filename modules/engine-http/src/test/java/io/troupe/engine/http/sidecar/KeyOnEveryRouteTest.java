package io.troupe.engine.http.sidecar;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The middleware as vLLM loads it: by its name, in a Python that finds it by its path. */
final class KeyOnEveryRouteTest {
  /** Calls the middleware as a server does, and prints what each request got. */
  private static final String REQUESTS =
      """
      import asyncio, importlib, sys
      module, name = sys.argv[1].rsplit(".", 1)

      async def app(scope, receive, send):
          await send({"type": "app"})

      guarded = getattr(importlib.import_module(module), name)(app)

      def ask(type, method, path, *keys):
          got = []
          async def send(message):
              got.append(str(message.get("status") or message.get("code") or message["type"]))
          headers = [(b"Authorization", key) for key in keys]
          scope = {"type": type, "method": method, "path": path, "headers": headers}
          asyncio.run(guarded(scope, None, send))
          print(path, got[0])

      ask("http", "POST", "/collective_rpc")
      ask("http", "POST", "/pause", b"Bearer wrong")
      ask("http", "POST", "/health")
      ask("http", "GET", "/health/../pause")
      ask("http", "GET", "/metrics", b"secret")
      ask("http", "GET", "/v1/models", b"Bearer secret", b"Bearer secret")
      ask("websocket", "GET", "/v1/realtime")
      ask("http", "GET", "/health")
      ask("http", "POST", "/collective_rpc", b"Bearer secret")
      ask("lifespan", "", "")
      """;

  @TempDir private Path folder;

  private String python(ServerCommand command, String key) throws Exception {
    int at = command.words().indexOf("--middleware");
    ProcessBuilder builder =
        new ProcessBuilder("python3", "-c", REQUESTS, command.words().get(at + 1))
            .redirectErrorStream(true);
    builder.environment().putAll(command.withKey(key).environment());
    Process process = builder.start();
    process.getOutputStream().close();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  private ServerCommand command() {
    ServerCommand.Load load =
        new ServerCommand.Load("/m", "bfloat16", 1, 0.8, 4096, ServerCommand.Adapters.NONE);
    return KeyOnEveryRoute.on(
        ServerCommand.vllm(load, 8123, List.of("--enforce-eager")),
        folder,
        Map.of("PYTHONPATH", "/of/the/user"));
  }

  @Test
  void on_requestsWithoutTheKey_areRefusedOnEveryRoute() throws Exception {
    assertThat(command().environment()).containsEntry("PYTHONPATH", folder + ":/of/the/user");
    assertThat(python(command(), "secret").lines())
        .containsExactly(
            "/collective_rpc 401",
            "/pause 401",
            "/health 401",
            "/health/../pause 401",
            "/metrics 401",
            "/v1/models 401",
            "/v1/realtime 1008",
            "/health app",
            "/collective_rpc app",
            " app");
  }

  @Test
  void on_serverWithoutAKey_doesNotStart() throws Exception {
    assertThat(python(command(), "")).contains("ValueError: VLLM_API_KEY is empty");
  }
}

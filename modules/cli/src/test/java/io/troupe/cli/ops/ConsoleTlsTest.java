package io.troupe.cli.ops;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.console.AccessTokens;
import io.troupe.console.ConsoleServer;
import io.troupe.console.ConsoleSettings;
import io.troupe.console.ConsoleTls;
import io.troupe.run.console.ConsoleFile;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A console behind TLS, and the command line that finds it by the run's folder. */
final class ConsoleTlsTest {
  private static final String PASSWORD = "open sesame";

  @TempDir private Path folder;

  @Test
  void console_withAKeystore_isTrustedByTheCommandLineAlone() throws Exception {
    ConsoleTls tls = ConsoleTls.of(keystore(), PASSWORD.toCharArray());
    ConsoleSettings settings =
        new ConsoleSettings("127.0.0.1", 0, false, true, AccessTokens.random(), Optional.of(tls));
    SyntheticRun run = new SyntheticRun(folder, 10, false);
    try (ConsoleServer server = ConsoleServer.start(settings, run)) {
      ConsoleFile.write(folder, server, settings);
      assertThat(server.link()).startsWith("https://127.0.0.1:");
      try (ConsoleClient client = ConsoleClient.find(folder.toString(), false)) {
        assertThat(client.get("/run").path("facts").path("run").asText()).isNotEmpty();
        assertThatThrownBy(() -> client.order(Map.of("verb", "pause")))
            .hasMessageContaining("the folder of a run");
      }
      try (HttpClient stranger = HttpClient.newHttpClient()) {
        HttpRequest alive = HttpRequest.newBuilder(server.address().resolve("/alive")).build();
        assertThatThrownBy(() -> stranger.send(alive, BodyHandlers.ofString()))
            .isInstanceOf(SSLHandshakeException.class);
      }
    }
  }

  @Test
  void keystore_wrongPasswordOrNone_isRefusedByName() throws Exception {
    Path keystore = keystore();
    assertThatThrownBy(() -> ConsoleTls.of(keystore, "wrong".toCharArray()))
        .hasMessageStartingWith("console.keystore " + keystore + " cannot be used: ");
    Path nowhere = folder.resolve("none.p12");
    assertThatThrownBy(() -> ConsoleTls.of(nowhere, PASSWORD.toCharArray()))
        .hasMessageStartingWith("console.keystore " + nowhere + " cannot be used: ");
  }

  private Path keystore() throws IOException, InterruptedException {
    Path file = folder.resolve("console.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "console",
                "-keyalg",
                "EC",
                "-dname",
                "CN=console",
                "-ext",
                "san=ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-keystore",
                file.toString(),
                "-storepass",
                PASSWORD)
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes(), UTF_8);
    assertThat(keytool.waitFor()).as(said).isZero();
    return file;
  }
}

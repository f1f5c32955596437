package io.troupe.config;

import io.troupe.config.binding.RuleChecker;
import io.troupe.config.binding.Validated;
import io.troupe.config.schema.Default;
import io.troupe.config.schema.Doc;
import io.troupe.config.schema.Range;
import io.troupe.console.AccessTokens;
import io.troupe.console.ConsoleSettings;
import io.troupe.console.ConsoleTls;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/** The ops console of the run. */
public record ConsoleSection(
    @Doc("Whether the run opens a console; the link is printed at start.") @Default("true")
        boolean enabled,
    @Doc(
            "Where it listens; beyond the loopback interface it needs a keystore and asks for a"
                + " token.")
        @Default("127.0.0.1")
        String host,
    @Doc("First port tried; if it is taken, the next free of twenty. 0 takes any.")
        @Default("8460")
        @Range(min = 0, max = 65_535)
        int port,
    @Doc("Ask for a token on the loopback interface too: wise where others have accounts.")
        @Default("false")
        boolean requireToken,
    @Doc("Never show texts of prompts and completions.") @Default("false") boolean hideText,
    @Doc(
            "PKCS#12 file with certificate and key for TLS; \"\" for none. Its password is read"
                + " from the environment variable TROUPE_CONSOLE_KEYSTORE_PASSWORD.")
        @Default("")
        String keystore)
    implements Validated {
  private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "::1");

  @Override
  public void check(RuleChecker rules) {
    rules
        .on("host", "keystore")
        .require(
            () -> LOOPBACK.contains(host) || !keystore.isEmpty(),
            "is reachable from other machines, so it needs a keystore",
            "set console.keystore, or listen on 127.0.0.1 and come through ssh -L"
                + " 8460:127.0.0.1:8460");
  }

  /**
   * The console's settings, with new tokens.
   *
   * @throws IOException if the keystore cannot be read
   */
  public ConsoleSettings settings() throws IOException {
    return new ConsoleSettings(
        host,
        port,
        hideText,
        requireToken,
        AccessTokens.random(),
        keystore.isEmpty() ? Optional.empty() : Optional.of(tls()));
  }

  private ConsoleTls tls() throws IOException {
    String password = System.getenv().getOrDefault("TROUPE_CONSOLE_KEYSTORE_PASSWORD", "");
    return ConsoleTls.of(Path.of(keystore), password.toCharArray());
  }
}

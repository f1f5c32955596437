package io.troupe.gateway.agent;

import static io.troupe.core.Require.require;

import io.troupe.base.files.PrivateFiles;
import io.troupe.base.net.HostPort;
import io.troupe.net.tls.HostKeys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/**
 * The address at which agents of any host ask for tasks.
 *
 * @param listen address; if its port is taken, the next free of 64
 * @param keyFile holds the key that agents ask with
 * @param tls folder of this host's keys, as {@link HostKeys} has them; empty means HTTP
 * @param silence of an agent after which its work is lost
 */
public record RemoteAgentSettings(
    HostPort listen, Path keyFile, Optional<Path> tls, Duration silence) {
  private static final int LEAST_CHARACTERS = 16;

  public RemoteAgentSettings {
    require(silence.isPositive(), "an agent may be silent for longer than 0, not %s", silence);
  }

  /**
   * Reads the key of the agents.
   *
   * @throws IOException if there is none, or others can read it; says what to do
   */
  byte[] key() throws IOException {
    if (!Files.isReadable(keyFile)) {
      throw new IOException(
          "%s, the key of remote agents, cannot be read; make one with: (umask 077; openssl rand -hex 32 > %s)"
              .formatted(keyFile, keyFile));
    }
    Optional<String> open = PrivateFiles.openness(keyFile);
    if (open.isPresent()) {
      throw new IOException(open.get() + "; chmod 600 it, and make another key");
    }
    String key = Files.readString(keyFile).strip();
    if (key.length() < LEAST_CHARACTERS) {
      throw new IOException(
          "%s has %d characters; a key of remote agents has %d or more"
              .formatted(keyFile, key.length(), LEAST_CHARACTERS));
    }
    return key.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Reads what HTTPS is answered with.
   *
   * @throws IOException if the keys are missing, or have expired; says what to do
   */
  Optional<SSLContext> context() throws IOException {
    if (tls.isEmpty()) {
      return Optional.empty();
    }
    HostKeys keys = HostKeys.in(tls.get().toAbsolutePath());
    Optional<String> expired = keys.expired(Instant.now());
    if (expired.isPresent()) {
      throw new IOException(expired.get());
    }
    return Optional.of(keys.context());
  }
}

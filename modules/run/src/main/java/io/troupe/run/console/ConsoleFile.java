package io.troupe.run.console;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.troupe.base.files.PrivateFiles;
import io.troupe.base.process.ProcessIdentity;
import io.troupe.console.ConsoleServer;
import io.troupe.console.ConsoleSettings;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.cert.Certificate;
import java.security.cert.CertificateEncodingException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * {@code console.json} in a run's folder: where its console answers and what opens it. Only its
 * owner can read it.
 */
public record ConsoleFile(
    URI url, String operatorToken, Optional<Certificate> certificate, long pid) {
  private static final String NAME = "console.json";
  private static final ObjectMapper JSON = JsonMapper.builder().build();

  public static void write(Path folder, ConsoleServer server, ConsoleSettings settings)
      throws IOException {
    Map<String, Object> content = new LinkedHashMap<>();
    content.put("url", server.address().toString());
    ProcessIdentity self =
        ProcessIdentity.of(ProcessHandle.current())
            .orElseThrow(() -> new IOException("the system hides when this process began"));
    content.put("pid", self.pid());
    content.put("started", self.start().toEpochMilli());
    content.put("operator_token", settings.tokens().operator());
    content.put("reader_token", settings.tokens().reader());
    if (settings.tls().isPresent()) {
      content.put("certificate", encoded(settings.tls().get().certificate()));
    }
    PrivateFiles.write(folder.resolve(NAME), JSON.writeValueAsBytes(content));
  }

  static void delete(Path folder) throws IOException {
    Files.deleteIfExists(folder.resolve(NAME));
  }

  /** Returns the file of a run whose process runs; the token must not reach a later process. */
  public static Optional<ConsoleFile> read(Path folder) throws IOException {
    Map<String, Object> content;
    try {
      content = JSON.readValue(Files.readAllBytes(folder.resolve(NAME)), new TypeReference<>() {});
    } catch (NoSuchFileException absent) {
      return Optional.empty(); // A run that ends deletes the file at any moment.
    }
    long pid = ((Number) content.getOrDefault("pid", 0)).longValue();
    long started = ((Number) content.getOrDefault("started", 0)).longValue();
    if (!new ProcessIdentity(pid, Instant.ofEpochMilli(started)).runs()) {
      return Optional.empty();
    }
    Object certificate = content.get("certificate");
    return Optional.of(
        new ConsoleFile(
            URI.create(String.valueOf(content.get("url"))),
            String.valueOf(content.get("operator_token")),
            certificate == null ? Optional.empty() : Optional.of(decoded(certificate.toString())),
            pid));
  }

  private static byte[] encoded(Certificate certificate) throws IOException {
    try {
      return certificate.getEncoded();
    } catch (CertificateEncodingException e) {
      throw new IOException("the certificate of console.keystore cannot be written down", e);
    }
  }

  private static Certificate decoded(String base64) throws IOException {
    try {
      return CertificateFactory.getInstance("X.509")
          .generateCertificate(new ByteArrayInputStream(Base64.getDecoder().decode(base64)));
    } catch (CertificateException | IllegalArgumentException e) {
      throw new IOException("console.json holds a certificate that is none", e);
    }
  }

  /** Keeps the secret out of logs. */
  @Override
  public String toString() {
    return "ConsoleFile[" + url + "]";
  }
}

package io.troupe.console;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Collections;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/**
 * The certificate by which a console proves itself beyond the loopback interface.
 *
 * @param certificate the console's own; the command line trusts exactly this one, which it reads
 *     from the run's folder
 */
public record ConsoleTls(SSLContext context, Certificate certificate) {
  /**
   * Reads a PKCS#12 file with one key.
   *
   * @throws IOException if it cannot be used; says why
   */
  public static ConsoleTls of(Path keystore, char[] password) throws IOException {
    try (InputStream in = Files.newInputStream(keystore)) {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(in, password);
      for (String alias : Collections.list(store.aliases())) {
        if (store.isKeyEntry(alias)) {
          KeyManagerFactory keys =
              KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
          keys.init(store, password);
          SSLContext context = SSLContext.getInstance("TLS");
          context.init(keys.getKeyManagers(), null, null);
          return new ConsoleTls(context, store.getCertificate(alias));
        }
      }
    } catch (GeneralSecurityException | IOException unusable) {
      throw new IOException(
          "console.keystore %s cannot be used: %s".formatted(keystore, unusable.getMessage()),
          unusable);
    }
    throw new IOException(
        "console.keystore %s holds no private key; make one with keytool -genkeypair"
            .formatted(keystore));
  }
}

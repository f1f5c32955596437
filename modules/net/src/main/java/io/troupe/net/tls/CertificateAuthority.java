package io.troupe.net.tls;

import static io.troupe.core.Require.require;

import io.troupe.base.files.FileTree;
import io.troupe.base.files.PrivateFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A cluster's own authority: a process with a certificate of it may take part. Its key stays in
 * {@code ca/} on the operator's machine; each host gets only its own folder.
 *
 * <pre>
 *   DIR/ca/ca.p12, ca/password      the authority's key: keep it off the hosts
 *   DIR/hosts/NAME/                 what host NAME needs: {@link HostKeys}
 * </pre>
 */
public final class CertificateAuthority {
  private static final String ALIAS = "ca";
  private static final int CA_DAYS = 3650;

  private final Path folder;

  private CertificateAuthority(Path folder) {
    this.folder = folder;
  }

  /**
   * Makes a new authority.
   *
   * @throws IOException if there is one already
   */
  public static CertificateAuthority init(Path folder, String cluster) throws IOException {
    requireName(cluster, "a cluster");
    CertificateAuthority authority = new CertificateAuthority(folder);
    if (Files.exists(authority.store())) {
      throw new IOException(
          "%s is an authority already; issue certificates of it, or give another folder"
              .formatted(folder));
    }
    PrivateFiles.folders(folder);
    PrivateFiles.folders(folder.resolve("ca"));
    KeyStorePasswords.make(authority.password());
    Keytool.run(
        "-genkeypair",
        "-alias",
        ALIAS,
        "-keyalg",
        "EC",
        "-groupname",
        "secp256r1",
        "-dname",
        "CN=Troupe cluster " + cluster,
        "-validity",
        Integer.toString(CA_DAYS),
        "-ext",
        "bc:c=ca:true,pathlen:0",
        "-ext",
        "ku:c=keyCertSign,cRLSign",
        "-keystore",
        authority.store().toString(),
        "-storetype",
        "PKCS12",
        "-storepass:file",
        authority.password().toString());
    PrivateFiles.close(authority.store());
    return authority;
  }

  /**
   * The authority in a folder.
   *
   * @throws IOException if there is none
   */
  public static CertificateAuthority open(Path folder) throws IOException {
    CertificateAuthority authority = new CertificateAuthority(folder);
    if (!Files.isReadable(authority.store())) {
      throw new IOException(
          "there is no certificate authority in %s; make one with: troupe certs init %s"
              .formatted(folder.toAbsolutePath(), folder));
    }
    return authority;
  }

  /**
   * Makes key and certificate of a host, replacing those it had.
   *
   * @param name of its folder
   * @param addresses names and IP addresses that others reach it by; its certificate is good for
   *     these only
   * @param days validity in days
   */
  public HostKeys issue(String name, List<String> addresses, int days) throws IOException {
    return issue(name, addresses, days, 0);
  }

  /** Issues keys with a certificate that was valid from some days ago on. */
  public HostKeys issue(String name, List<String> addresses, int days, int ago) throws IOException {
    requireName(name, "a host");
    require(!addresses.isEmpty(), "a host's certificate needs an address or a name");
    require(
        days >= 1 && days <= CA_DAYS, "a certificate is valid 1 to %d days, not %d", CA_DAYS, days);
    addresses.forEach(address -> requireName(address, "an address"));
    Path hosts = PrivateFiles.folders(folder.resolve("hosts"));
    Path made = hosts.resolve("." + name + ".new");
    FileTree.delete(made);
    PrivateFiles.folders(made);
    try {
      fill(made, name, addresses, days, ago);
    } catch (GeneralSecurityException e) {
      throw new IOException("cannot make the certificate of %s: %s".formatted(name, e), e);
    }
    FileTree.replace(hosts.resolve(name), made);
    return HostKeys.in(hosts.resolve(name));
  }

  /** Returns the place of a host's keys in the folder of an authority. */
  static Path folder(Path authority, String host) {
    return authority.resolve("hosts").resolve(host);
  }

  /** The folders of all hosts that have a certificate, in order of names. */
  public List<Path> hosts() throws IOException {
    Path hosts = folder.resolve("hosts");
    if (!Files.isDirectory(hosts)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(hosts)) {
      return all.filter(host -> !String.valueOf(host.getFileName()).startsWith("."))
          .sorted()
          .toList();
    }
  }

  private void fill(Path made, String name, List<String> addresses, int days, int ago)
      throws IOException, GeneralSecurityException {
    Path password = made.resolve(HostKeys.PASSWORD);
    Path node = made.resolve(HostKeys.KEYS);
    Path request = made.resolve("request.pem");
    Path signed = made.resolve("signed.pem");
    KeyStorePasswords.make(password);
    request(name, node, password, request);
    sign(request, signed, addresses, days, ago);
    join(node, signed, KeyStorePasswords.read(password), made.resolve(HostKeys.TRUST));
    Files.delete(request);
    Files.delete(signed);
  }

  /** Makes a key, and the request to certify it. */
  private static void request(String name, Path node, Path password, Path request)
      throws IOException {
    Keytool.run(
        "-genkeypair",
        "-alias",
        HostKeys.ALIAS,
        "-keyalg",
        "EC",
        "-groupname",
        "secp256r1",
        "-dname",
        "CN=" + name,
        "-keystore",
        node.toString(),
        "-storetype",
        "PKCS12",
        "-storepass:file",
        password.toString());
    Keytool.run(
        "-certreq",
        "-alias",
        HostKeys.ALIAS,
        "-file",
        request.toString(),
        "-keystore",
        node.toString(),
        "-storepass:file",
        password.toString());
  }

  private void sign(Path request, Path signed, List<String> addresses, int days, int ago)
      throws IOException {
    Keytool.run(
        "-gencert",
        "-rfc",
        "-alias",
        ALIAS,
        "-infile",
        request.toString(),
        "-outfile",
        signed.toString(),
        "-validity",
        Integer.toString(days),
        "-startdate",
        "-" + ago + "d",
        "-ext",
        "san=" + String.join(",", addresses.stream().map(CertificateAuthority::san).toList()),
        "-ext",
        "eku=serverAuth,clientAuth",
        "-ext",
        "ku:c=digitalSignature",
        "-keystore",
        store().toString(),
        "-storepass:file",
        password().toString());
  }

  /**
   * Puts the signed certificate, with its authority's, to the key; and the authority's alone into a
   * store of trust.
   */
  private void join(Path node, Path signed, char[] password, Path trust)
      throws IOException, GeneralSecurityException {
    Certificate authority =
        HostKeys.load(store(), KeyStorePasswords.read(password())).getCertificate(ALIAS);
    KeyStore keys = HostKeys.load(node, password);
    List<Certificate> chain = new ArrayList<>();
    try (InputStream in = Files.newInputStream(signed)) {
      chain.add(CertificateFactory.getInstance("X.509").generateCertificate(in));
    }
    chain.add(authority);
    PrivateKey key = (PrivateKey) keys.getKey(HostKeys.ALIAS, password);
    keys.setKeyEntry(HostKeys.ALIAS, key, password, chain.toArray(Certificate[]::new));
    HostKeys.store(keys, node, password);
    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, password);
    trusted.setCertificateEntry(ALIAS, authority);
    HostKeys.store(trusted, trust, password);
  }

  private static String san(String address) {
    boolean ip =
        address.contains(":") || address.chars().allMatch(c -> c == '.' || (c >= '0' && c <= '9'));
    return (ip ? "ip:" : "dns:") + address;
  }

  private static void requireName(String name, String what) {
    require(
        !name.isEmpty()
            && !name.startsWith(".")
            && !name.startsWith("-")
            && name.chars()
                .allMatch(c -> c < 128 && (Character.isLetterOrDigit(c) || ".-_:".indexOf(c) >= 0)),
        "%s is named with letters, digits, '.', '-', '_' and ':', not '%s'",
        what,
        name);
  }

  private Path store() {
    return folder.resolve("ca").resolve("ca.p12");
  }

  private Path password() {
    return folder.resolve("ca").resolve("password");
  }
}

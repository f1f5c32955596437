package io.troupe.launch.remote;

import io.troupe.net.tls.HostKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The keys of a fleet's hosts, among those that {@code troupe certs issue} made: a host has the
 * folder whose certificate is good for its address.
 *
 * @param folders by host
 */
public record KeyFolders(Map<RemoteHost, Path> folders) {
  public KeyFolders {
    folders = Map.copyOf(folders);
  }

  /**
   * Finds the keys of hosts.
   *
   * @param authority the folder that {@code troupe certs init} made
   * @param now the present time
   * @throws RemoteHosts.NotReadyException if hosts have no keys, or none that are valid; names each
   *     with the next step
   */
  public static KeyFolders in(Path authority, List<RemoteHost> hosts, Instant now)
      throws RemoteHosts.NotReadyException, IOException {
    List<String> problems = new ArrayList<>();
    List<HostKeys> issued = issued(authority, problems);
    if (!problems.isEmpty()) {
      throw new RemoteHosts.NotReadyException(problems);
    }
    return among(issued, authority, hosts, now);
  }

  static KeyFolders among(
      List<HostKeys> issued, Path authority, List<RemoteHost> hosts, Instant now)
      throws RemoteHosts.NotReadyException {
    List<String> problems = new ArrayList<>();
    Map<RemoteHost, Path> found = new LinkedHashMap<>();
    for (RemoteHost host : hosts) {
      String address = host.address();
      List<HostKeys> named =
          issued.stream().filter(keys -> keys.addresses().contains(address)).toList();
      Optional<HostKeys> valid =
          named.stream().filter(keys -> keys.objection(address, now).isEmpty()).findFirst();
      if (valid.isPresent()) {
        found.put(host, valid.get().folder());
      } else {
        problems.add(
            named.stream()
                .flatMap(keys -> keys.objection(address, now).stream())
                .findFirst()
                .orElse(
                    "no certificate in %s/hosts is good for %s; make one: troupe certs issue %s NAME --address %s"
                        .formatted(authority, address, authority, address)));
      }
    }
    if (!problems.isEmpty()) {
      throw new RemoteHosts.NotReadyException(problems);
    }
    return new KeyFolders(found);
  }

  private static List<HostKeys> issued(Path authority, List<String> problems) throws IOException {
    Path hosts = authority.resolve("hosts");
    if (!Files.isDirectory(hosts)) {
      problems.add(
          "%s is no folder; make it by `troupe certs init %s` and `troupe certs issue`"
              .formatted(hosts, authority));
      return List.of();
    }
    List<HostKeys> issued = new ArrayList<>();
    try (Stream<Path> all = Files.list(hosts)) {
      for (Path folder : all.filter(KeyFolders::whole).sorted().toList()) {
        try {
          issued.add(HostKeys.in(folder));
        } catch (IOException unfit) {
          problems.add(String.valueOf(unfit.getMessage()));
        }
      }
    }
    return issued;
  }

  /** Whether a folder is whole: a folder that is being made has a name with a dot before it. */
  private static boolean whole(Path folder) {
    return !String.valueOf(folder.getFileName()).startsWith(".");
  }

  /** Returns the folder of one host. */
  public Path of(RemoteHost host) {
    return Objects.requireNonNull(folders.get(host), host.login());
  }
}

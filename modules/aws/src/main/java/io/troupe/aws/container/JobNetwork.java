package io.troupe.aws.container;

import io.troupe.base.clock.Surroundings;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;

/**
 * Addresses of a job's hosts.
 *
 * @param patience longest time for which the name of a host may be unknown
 */
record JobNetwork(ContainerContract contract, Duration patience, Surroundings here) {
  /** The address of this host on the network of the job. */
  String ownAddress() throws IOException {
    if (contract.alone()) {
      return InetAddress.getLoopbackAddress().getHostAddress();
    }
    if (!Character.isDigit(contract.host().charAt(0)) && !contract.network().isEmpty()) {
      NetworkInterface network = NetworkInterface.getByName(contract.network());
      if (network != null) {
        Optional<String> address =
            network
                .inetAddresses()
                .filter(each -> each instanceof Inet4Address)
                .map(InetAddress::getHostAddress)
                .findFirst();
        if (address.isPresent()) {
          return address.get();
        }
      }
    }
    return InetAddress.getByName(contract.host()).getHostAddress();
  }

  /** The address of another host, whose name may take a while to be known. */
  String resolved(String host) throws IOException, InterruptedException {
    long giveUpAt = here.nowMillis() + patience.toMillis();
    while (true) {
      try {
        return InetAddress.getByName(host).getHostAddress();
      } catch (UnknownHostException unknown) {
        if (here.nowMillis() > giveUpAt) {
          throw new IOException(
              "the name of host %s is not known after %d min".formatted(host, patience.toMinutes()),
              unknown);
        }
        here.pause(here.lookAgain());
      }
    }
  }
}

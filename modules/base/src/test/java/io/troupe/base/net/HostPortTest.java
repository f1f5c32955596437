package io.troupe.base.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class HostPortTest {
  @ParameterizedTest
  @CsvSource({
    "localhost:7400, localhost, 7400",
    "10.0.0.1:1, 10.0.0.1, 1",
    "[::1]:7400, ::1, 7400",
    "[fe80::1%eth0]:65535, fe80::1%eth0, 65535"
  })
  void parse_andText_areInverse(String text, String host, int port) {
    HostPort read = HostPort.parse(text);
    assertThat(read).isEqualTo(new HostPort(host, port));
    assertThat(read).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "host",
        ":7400",
        "host:",
        "host:x",
        "host:123456",
        "host:65536",
        "host:-1",
        "::1:7400",
        "[::1:7400",
        "::1]:7400",
        "[]:7400"
      })
  void parse_somethingElse_isRefused(String text) {
    assertThatThrownBy(() -> HostPort.parse(text)).isInstanceOf(IllegalArgumentException.class);
    assertThat(HostPort.read(text)).isEmpty();
  }

  @Test
  void parse_ipv6WithoutBrackets_saysHowItIsWritten() {
    assertThatThrownBy(() -> HostPort.parse("::1:7400"))
        .hasMessage("'::1:7400' is no HOST:PORT: an IPv6 address is in brackets, as in [::1]:7400");
  }

  @Test
  void host_inBrackets_isTheSame() {
    assertThat(new HostPort("[::1]", 7400)).isEqualTo(new HostPort("::1", 7400));
    assertThat(new HostPort("::1", 7400).uriHost()).isEqualTo("[::1]");
    assertThat(new HostPort("127.0.0.1", 7400).uriHost()).isEqualTo("127.0.0.1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "127.0.0.1",
        "127.8.0.1",
        "::1",
        "[::1]",
        "::ffff:127.0.0.1",
        "0:0:0:0:0:0:0:1"
      })
  void loopback_thisHostAlone_is(String host) {
    assertThat(new HostPort(host, 0).loopback()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"0.0.0.0", "::", "10.0.0.1", "fe80::1", "localhost.lan", "127.example.org"})
  void loopback_others_isNot(String host) {
    assertThat(new HostPort(host, 0).loopback()).isFalse();
  }

  @Test
  void socketAddress_ipv6_isThatAddress() {
    InetSocketAddress socket = HostPort.parse("[::1]:7400").socketAddress();
    assertThat(socket.getAddress()).isEqualTo(InetAddress.ofLiteral("::1"));
    HostPort again = HostPort.of(socket);
    assertThat(HostPort.parse(again.toString()).socketAddress()).isEqualTo(socket);
    assertThat(again.loopback()).isTrue();
  }
}

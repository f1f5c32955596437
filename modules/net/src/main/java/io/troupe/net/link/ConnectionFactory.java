package io.troupe.net.link;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

/** The way in which connections are made: plain, or with mutual TLS. */
public sealed interface ConnectionFactory {
  /** A server socket, plain or not. */
  interface Listener extends Closeable {
    InetSocketAddress address();

    Connection accept() throws IOException;

    @Override
    void close() throws IOException;
  }

  /** Listens; port 0 takes a free one. */
  Listener listen(InetSocketAddress address) throws IOException;

  /** Connects. */
  Connection connect(InetSocketAddress address, Duration within) throws IOException;

  /** Returns the reason why no byte may be sent or received at an address, if so. */
  Optional<String> objection(InetSocketAddress address);

  /**
   * Without encryption.
   *
   * @param allInterfaces whether the network is trusted explicitly; else it is for loopback only
   */
  record Plain(boolean allInterfaces) implements ConnectionFactory {
    @Override
    public Optional<String> objection(InetSocketAddress address) {
      boolean near = !address.isUnresolved() && address.getAddress().isLoopbackAddress();
      return near || allInterfaces
          ? Optional.empty()
          : Optional.of(
              "%s can be reached from other hosts, and plain TCP would let anybody listen; set cluster.tls, or pass --allow-plain-tcp in a network that nobody else is in"
                  .formatted(address));
    }

    private void check(InetSocketAddress address) throws IOException {
      Optional<String> objection = objection(address);
      if (objection.isPresent()) {
        throw new IOException(objection.get());
      }
    }

    private record PlainListener(ServerSocketChannel channel) implements Listener {
      @Override
      public InetSocketAddress address() {
        return (InetSocketAddress) channel.socket().getLocalSocketAddress();
      }

      @Override
      public Connection accept() throws IOException {
        SocketChannel accepted = channel.accept();
        accepted.socket().setTcpNoDelay(true);
        return new Connection.Plain(accepted);
      }

      @Override
      public void close() throws IOException {
        channel.close();
      }
    }

    @Override
    public Listener listen(InetSocketAddress address) throws IOException {
      check(address);
      ServerSocketChannel channel = ServerSocketChannel.open();
      try {
        return new PlainListener(channel.bind(address));
      } catch (IOException failure) {
        channel.close();
        throw new IOException("cannot listen on " + address, failure);
      }
    }

    @Override
    public Connection connect(InetSocketAddress address, Duration within) throws IOException {
      check(address);
      SocketChannel channel = SocketChannel.open();
      try {
        channel.socket().connect(address, Math.toIntExact(within.toMillis()));
        channel.socket().setTcpNoDelay(true);
        return new Connection.Plain(channel);
      } catch (IOException failure) {
        channel.close();
        throw failure;
      }
    }
  }

  /**
   * With TLS; each side shows a certificate, and the server's must name its host.
   *
   * @param context of this node: its certificate, and the authority it trusts
   */
  record Tls(SSLContext context) implements ConnectionFactory {
    @Override
    public Optional<String> objection(InetSocketAddress address) {
      return Optional.empty();
    }

    private record TlsListener(SSLServerSocket socket) implements Listener {
      @Override
      public InetSocketAddress address() {
        return (InetSocketAddress) socket.getLocalSocketAddress();
      }

      @Override
      public Connection accept() throws IOException {
        SSLSocket accepted = (SSLSocket) socket.accept();
        accepted.setTcpNoDelay(true);
        return Connection.Encrypted.of(accepted);
      }

      @Override
      public void close() throws IOException {
        socket.close();
      }
    }

    @Override
    public Listener listen(InetSocketAddress address) throws IOException {
      ServerSocket socket = context.getServerSocketFactory().createServerSocket();
      try {
        SSLServerSocket secured = (SSLServerSocket) socket;
        secured.setNeedClientAuth(true);
        secured.bind(address);
        return new TlsListener(secured);
      } catch (IOException failure) {
        socket.close();
        throw new IOException("cannot listen on " + address, failure);
      }
    }

    @Override
    public Connection connect(InetSocketAddress address, Duration within) throws IOException {
      SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket();
      try {
        socket.connect(address, Math.toIntExact(within.toMillis()));
        socket.setTcpNoDelay(true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        return Connection.Encrypted.of(socket);
      } catch (IOException failure) {
        socket.close();
        throw failure;
      }
    }
  }

  /** Without encryption, and within the host. */
  static ConnectionFactory onLoopback() {
    return new Plain(false);
  }

  /**
   * Encrypted where there is a context.
   *
   * @param plainAllowed whether it may leave the host where there is none
   */
  static ConnectionFactory of(Optional<SSLContext> context, boolean plainAllowed) {
    return context.<ConnectionFactory>map(Tls::new).orElseGet(() -> new Plain(plainAllowed));
  }
}

package io.troupe.cluster.weights;

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

/** How a node's weight connections are made: as they are, or with mutual TLS. */
public sealed interface Endpoint {
  /** A server socket, plain or not. */
  interface Listener extends AutoCloseable {
    InetSocketAddress address();

    Wire accept() throws IOException;

    @Override
    void close() throws IOException;
  }

  /** Listens; port 0 takes a free one. */
  Listener listen(InetSocketAddress address) throws IOException;

  /** Connects. */
  Wire connect(InetSocketAddress address, Duration within) throws IOException;

  /** Without encryption: for loopback, and for networks that are trusted explicitly. */
  record Open() implements Endpoint {
    private record PlainListener(ServerSocketChannel channel) implements Listener {
      @Override
      public InetSocketAddress address() {
        return (InetSocketAddress) channel.socket().getLocalSocketAddress();
      }

      @Override
      public Wire accept() throws IOException {
        SocketChannel accepted = channel.accept();
        accepted.socket().setTcpNoDelay(true);
        return new Wire.Plain(accepted);
      }

      @Override
      public void close() throws IOException {
        channel.close();
      }
    }

    @Override
    public Listener listen(InetSocketAddress address) throws IOException {
      ServerSocketChannel channel = ServerSocketChannel.open();
      try {
        return new PlainListener(channel.bind(address));
      } catch (IOException failure) {
        channel.close();
        throw new IOException("cannot listen for weight transfers on " + address, failure);
      }
    }

    @Override
    public Wire connect(InetSocketAddress address, Duration within) throws IOException {
      SocketChannel channel = SocketChannel.open();
      try {
        channel.socket().connect(address, Math.toIntExact(within.toMillis()));
        channel.socket().setTcpNoDelay(true);
        return new Wire.Plain(channel);
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
  record Tls(SSLContext context) implements Endpoint {
    private record TlsListener(SSLServerSocket socket) implements Listener {
      @Override
      public InetSocketAddress address() {
        return (InetSocketAddress) socket.getLocalSocketAddress();
      }

      @Override
      public Wire accept() throws IOException {
        SSLSocket accepted = (SSLSocket) socket.accept();
        accepted.setTcpNoDelay(true);
        return Wire.Encrypted.of(accepted);
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
        throw new IOException("cannot listen for weight transfers on " + address, failure);
      }
    }

    @Override
    public Wire connect(InetSocketAddress address, Duration within) throws IOException {
      SSLSocket socket = (SSLSocket) context.getSocketFactory().createSocket();
      try {
        socket.connect(address, Math.toIntExact(within.toMillis()));
        socket.setTcpNoDelay(true);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        socket.setSSLParameters(parameters);
        return Wire.Encrypted.of(socket);
      } catch (IOException failure) {
        socket.close();
        throw failure;
      }
    }
  }

  /** Encrypted where there is a context. */
  static Endpoint of(Optional<SSLContext> context) {
    return context.<Endpoint>map(Tls::new).orElseGet(Open::new);
  }
}

package io.troupe.base.process;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;

/**
 * SIGINT and SIGTERM, handled apart from the end of the process: the first signal asks for an
 * orderly end, every further signal for an immediate end. (A shutdown hook could do neither: while
 * hooks run, the JVM swallows further signals.)
 */
public final class Signals {
  /*
   * sun.misc.Signal is in the supported module jdk.unsupported, but javac warns of it in a way that
   * cannot be switched off, and warnings are errors here; so this class reaches it by reflection.
   */
  public static final int SIGINT = 2;
  public static final int SIGTERM = 15;

  private final AtomicInteger received = new AtomicInteger();
  private final IntConsumer first;
  private final IntConsumer further;

  private Signals(IntConsumer first, IntConsumer further) {
    this.first = first;
    this.further = further;
  }

  /**
   * Takes both signals over from the JVM.
   *
   * @param first receives the number of the first signal, on a thread of its own
   * @param further receives the number of every later signal
   */
  public static Signals install(IntConsumer first, IntConsumer further) {
    Signals signals = new Signals(first, further);
    signals.handle("INT", SIGINT);
    signals.handle("TERM", SIGTERM);
    return signals;
  }

  /** Has this process receive a signal, as if another process had sent it. */
  public static void raise(int number) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      signal
          .getMethod("raise", signal)
          .invoke(
              null,
              signal.getConstructor(String.class).newInstance(number == SIGINT ? "INT" : "TERM"));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this JVM has no sun.misc.Signal", e);
    }
  }

  /** Returns the first signal received, if any. */
  public OptionalInt received() {
    int number = received.get();
    return number == 0 ? OptionalInt.empty() : OptionalInt.of(number);
  }

  @SuppressWarnings("ReferenceEquality") // a proxy is equal to itself and to nothing else
  private void handle(String name, int number) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object receiver =
          Proxy.newProxyInstance(
              Signals.class.getClassLoader(),
              new Class<?>[] {handler},
              (proxy, method, arguments) ->
                  switch (method.getName()) {
                    case "handle" -> {
                      receive(number);
                      yield null;
                    }
                    case "hashCode" -> System.identityHashCode(proxy);
                    case "equals" -> proxy == arguments[0];
                    default -> "troupe's handler of SIG" + name;
                  });
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance(name), receiver);
    } catch (InvocationTargetException e) {
      // A JVM that ignores signals (-Xrs) refuses; then signals end the process.
      if (!(e.getCause() instanceof IllegalArgumentException)) {
        throw new IllegalStateException("cannot handle SIG" + name, e);
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this JVM has no sun.misc.Signal", e);
    }
  }

  private void receive(int number) {
    if (received.compareAndSet(0, number)) {
      first.accept(number);
    } else {
      further.accept(number);
    }
  }
}

package io.troupe.base.foreign;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import java.util.function.Supplier;

/** The process's environment as libraries in C read it; Java's own view of it never changes. */
public final class ProcessEnvironment {
  private static final MethodHandle SETENV =
      ForeignFunctions.ofTheCLibrary(
          "setenv", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));
  private static final MethodHandle UNSETENV =
      ForeignFunctions.ofTheCLibrary("unsetenv", FunctionDescriptor.of(JAVA_INT, ADDRESS));
  private static final MethodHandle GETENV =
      ForeignFunctions.ofTheCLibrary("getenv", FunctionDescriptor.of(ADDRESS, ADDRESS));

  private ProcessEnvironment() {}

  /** Sets a variable. A process without memory for it keeps the environment that it has. */
  public static synchronized void set(String name, String value) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocateFrom(name);
      MemorySegment text = arena.allocateFrom(value);
      int _ = ForeignFunctions.call(() -> (int) SETENV.invokeExact(key, text, 1));
    }
  }

  /** Returns a variable's value, if it has one. */
  @SuppressWarnings("restricted") // a string of the C library
  public static synchronized Optional<String> get(String name) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocateFrom(name);
      MemorySegment found = ForeignFunctions.call(() -> (MemorySegment) GETENV.invokeExact(key));
      return found.equals(MemorySegment.NULL)
          ? Optional.empty()
          : Optional.of(found.reinterpret(Long.MAX_VALUE).getString(0));
    }
  }

  /**
   * Sets a variable while a library reads it, and removes it however the reading ends: a variable
   * that stayed would be inherited by every child process.
   */
  public static synchronized <T> T with(String name, String value, Supplier<T> reader) {
    set(name, value);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocateFrom(name);
      try {
        return reader.get();
      } finally {
        int _ = ForeignFunctions.call(() -> (int) UNSETENV.invokeExact(key));
      }
    }
  }
}

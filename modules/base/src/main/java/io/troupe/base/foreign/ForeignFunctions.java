package io.troupe.base.foreign;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/** Functions in C as method handles, and their calls. */
public final class ForeignFunctions {
  private static final Linker LINKER = Linker.nativeLinker();

  private ForeignFunctions() {}

  /** A call of a method handle. */
  @FunctionalInterface
  public interface Call<T> {
    T invoke() throws Throwable;
  }

  /** A function of the C library. */
  @SuppressWarnings("restricted") // the signatures are those of POSIX
  public static MethodHandle ofTheCLibrary(String name, FunctionDescriptor type) {
    return LINKER.downcallHandle(LINKER.defaultLookup().findOrThrow(name), type);
  }

  /** Calls a function, which cannot throw anything because it is in C. */
  public static <T> T call(Call<T> call) {
    try {
      return call.invoke();
    } catch (Throwable impossible) {
      throw new AssertionError("a function in C throws nothing", impossible);
    }
  }
}

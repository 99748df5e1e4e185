/** Starts the dashboard in the page. */
import { TransportProvider } from "@connectrpc/connect-query";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { router } from "./app/router.tsx";
import { SignInAgain } from "./app/sign-in-again.tsx";
import { Toasts } from "./components/toasts.tsx";
import { queryClient, transport } from "./data/transport.ts";
import "./styles/index.css";

const element = document.querySelector("#app");
if (!element) throw new Error("The page has no element for the dashboard.");
createRoot(element).render(
  <StrictMode>
    <TransportProvider transport={transport}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
        <SignInAgain />
        <Toasts />
      </QueryClientProvider>
    </TransportProvider>
  </StrictMode>,
);

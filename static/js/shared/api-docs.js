// Starts Swagger UI. The Content-Security-Policy forbids inline scripts, so this is a file.
{
  const box = document.getElementById("api-docs");

  window.SwaggerUIBundle({
    domNode: box,
    url: box.dataset.schema,
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    validatorUrl: null,
    requestInterceptor: (request) => {
      request.headers["X-CSRFToken"] = box.dataset.csrf;
      return request;
    },
  });
}
